/*
 * Emits events on request, so that a test decides what is recorded when: a line `every_type N`, `work N` or
 * `big N` (too big for the smallest buffers) on standard input emits N events and is answered by a line.
 */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "tracee.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
	static const char *const texts[] = { "", "a", "two words", "tabs\tand \"quotes\"", "\xff\xfe" };
	static const int32_t numbers[] = { 1, -2, 3 };
	static char big[8192];
	char kind[16];
	uint64_t count;

	memset(big, 'x', sizeof(big) - 1);
	while (scanf("%15s %" SCNu64, kind, &count) == 2) {
		for (uint64_t i = 0; i < count; i++) {
			const char *text = texts[i % 5];
			int length = (int) (i % 3);

			if (strcmp(kind, "work") == 0) {
				lttng_ust_tracepoint(tracee, work, i);
			} else if (strcmp(kind, "big") == 0) {
				lttng_ust_tracepoint(tracee, every_type, i, big, numbers, 0);
			} else if ((int) strlen(text) >= length) {
				lttng_ust_tracepoint(tracee, every_type, i, text, numbers, length);
			} else {
				lttng_ust_tracepoint(tracee, every_type, i, text, numbers, 0);
			}
		}
		puts("done");
		fflush(stdout);
	}
	return 0;
}
