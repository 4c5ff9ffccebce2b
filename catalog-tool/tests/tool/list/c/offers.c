/* A program that offers LTTng-UST events, made with the official macros, and USDT probes, made with sys/sdt.h.
 *
 * It prints "ready" and then obeys lines: "attach" counts a semaphore up as a tracer does, "detach" down; each is
 * answered with "done". It ends with its input. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "offers-tp.h"

#include <stdio.h>
#include <string.h>

#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

unsigned short memcached_command__get_semaphore __attribute__((section(".probes")));
unsigned short memcached_plain_semaphore __attribute__((section(".probes")));
unsigned short memcached_process__command__start_semaphore __attribute__((section(".probes")));

static void serve(int connection, const char *key, long long cas)
{
	if (memcached_command__get_semaphore)
		STAP_PROBE5(memcached, command__get, connection, key, (int)strlen(key), -1, cas);
	STAP_PROBE1(memcached, process__command__start, connection);
	STAP_PROBE(memcached, plain);
	STAP_PROBE(memcached, plain);
	lttng_ust_tracepoint(shop, sale, connection, key, 0.5);
	lttng_ust_tracepoint(shop, lists, "abcdefgh", 8);
	lttng_ust_tracepoint(shop, closed);
}

int main(void)
{
	char line[64];

	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("ready");
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strcmp(line, "attach"))
			memcached_command__get_semaphore++;
		else if (!strcmp(line, "detach"))
			memcached_command__get_semaphore--;
		serve(1, line, 2);
		puts("done");
	}
	return 0;
}
