/*
 * The floor: the loops of emit-loop.rs in C, with LTTng-UST's own macros.
 *
 * Built with -DOFF, the macros are empty, as Valkey has them without USE_LTTNG; with -DGENERATED, generated files take their
 * place.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef OFF
#define lttng_ust_tracepoint(...) do { } while (0)
#elif defined(GENERATED)
#include "baseline-trace.h"
#else
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "baseline-tp.h"
#endif

/* Keeps the compiler from knowing the value, and from dropping what computes it, at no cost. */
#define HIDE(value) __asm__ volatile("" : "+r"(value))

__attribute__((noinline)) void loop_duration(uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		uint64_t duration = i;

		HIDE(duration);
		lttng_ust_tracepoint(baseline, duration, duration);
	}
}

__attribute__((noinline)) void loop_command_call(uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		uint64_t duration = i;

		HIDE(duration);
		lttng_ust_tracepoint(baseline, command_call, 0, "127.0.0.1:43590", "127.0.0.1:7101", "get", duration);
	}
}

__attribute__((noinline)) void loop_nothing(uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		lttng_ust_tracepoint(baseline, nothing);
}

struct work {
	void (*loop)(uint64_t);
	uint64_t count;
};

static void *run(void *argument)
{
	struct work *work = argument;

	work->loop(work->count);
	return NULL;
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t) time.tv_sec * 1000000000 + (uint64_t) time.tv_nsec;
}

int main(int argc, char **argv)
{
	struct work work;
	pthread_t others[64];
	char line[8];

	if (argc != 4)
		return 1;
	work.loop = strcmp(argv[1], "duration") == 0 ? loop_duration
		: strcmp(argv[1], "nothing") == 0 ? loop_nothing : loop_command_call;
	int threads = atoi(argv[2]);
	work.count = strtoull(argv[3], NULL, 10);

	while (fgets(line, sizeof(line), stdin)) {
		uint64_t start = now();

		for (int i = 1; i < threads && i < 64; i++)
			pthread_create(&others[i], NULL, run, &work);
		run(&work);
		for (int i = 1; i < threads && i < 64; i++)
			pthread_join(others[i], NULL);
		printf("%llu\n", (unsigned long long) (now() - start));
		fflush(stdout);
	}
	return 0;
}
