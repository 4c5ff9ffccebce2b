/* Emits events that it declares at run time: `exercise loop COUNT`, `exercise race ROUNDS`, `exercise large`. */
#include <lttng-runtime.h>

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

static lttng_runtime_event *sale;
static int is_over;
static uint64_t emitted[2];

static lttng_runtime_provider *open_shop(void)
{
	char error[256];
	lttng_runtime_provider *shop = lttng_runtime_open("shop",
		"sale(article: string group, took: u64 us, rate: f64, small: i16) closing()", error, sizeof(error));

	if (!shop) {
		fprintf(stderr, "%s\n", error);
		exit(1);
	}
	return shop;
}

static void loop(long count)
{
	for (long i = 0; i < count; i++)
		LTTNG_RUNTIME_EVENT(sale, lttng_runtime_text("book"), lttng_runtime_unsigned((uint64_t) i),
			lttng_runtime_float(0.5), lttng_runtime_signed(-2));
}

/* Emits whatever the other thread has registered, and counts so that it knows when an event is out of use. */
static void *emit(void *data)
{
	uint64_t *count = (uint64_t *) data;

	while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
		lttng_runtime_event *event = __atomic_load_n(&sale, __ATOMIC_ACQUIRE);

		LTTNG_RUNTIME_EVENT(event, lttng_runtime_text("book"), lttng_runtime_unsigned(*count),
			lttng_runtime_float(0.5), lttng_runtime_signed(-2));
		__atomic_add_fetch(count, 1, __ATOMIC_RELEASE);
		sched_yield();
	}
	return NULL;
}

static void wait_for_turns(uint64_t turns)
{
	for (int i = 0; i < 2; i++) {
		uint64_t start = __atomic_load_n(&emitted[i], __ATOMIC_ACQUIRE);

		while (__atomic_load_n(&emitted[i], __ATOMIC_ACQUIRE) < start + turns)
			sched_yield();
	}
}

static void race(long rounds)
{
	lttng_runtime_event *idle = lttng_runtime_find(NULL, "none", NULL, 0);
	pthread_t threads[2];

	sale = idle;
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, emit, &emitted[i]);
	for (long round = 0; round < rounds; round++) {
		lttng_runtime_provider *shop = open_shop();

		__atomic_store_n(&sale, lttng_runtime_find(shop, "sale", NULL, 0), __ATOMIC_RELEASE);
		wait_for_turns(2);
		lttng_runtime_close(shop);
		__atomic_store_n(&sale, idle, __ATOMIC_RELEASE);
		wait_for_turns(2);
		lttng_runtime_free(shop);
	}
	__atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	long count = argc > 2 ? atol(argv[2]) : 0;
	lttng_runtime_provider *shop;
	lttng_runtime_event *closing;
	char *large;

	if (argc < 2)
		return 2;
	if (!strcmp(argv[1], "race")) {
		race(count);
		return 0;
	}
	shop = open_shop();
	sale = lttng_runtime_find(shop, "sale", NULL, 0);
	closing = lttng_runtime_find(shop, "closing", NULL, 0);
	if (!strcmp(argv[1], "loop"))
		loop(count);
	if (!strcmp(argv[1], "large")) {
		large = (char *) malloc(70000);
		memset(large, 'x', 70000);
		LTTNG_RUNTIME_EVENT(sale, lttng_runtime_text_of(large, 70000), lttng_runtime_unsigned(1),
			lttng_runtime_float(0.5), lttng_runtime_signed(1));
		free(large);
		LTTNG_RUNTIME_EVENT(sale, lttng_runtime_text(NULL), lttng_runtime_unsigned(2),
			lttng_runtime_float(0.5), lttng_runtime_signed(65537));
		LTTNG_RUNTIME_EVENT(sale, lttng_runtime_unsigned(3));
		LTTNG_RUNTIME_EVENT_0(closing);
	}
	lttng_runtime_close(shop);
	loop(10);
	lttng_runtime_free(shop);
	return 0;
}
