/* The events of the tests through LTTng's own macros: `twin loop COUNT`. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "twin-tp.h"

#include <stdlib.h>

int main(int argc, char **argv)
{
	long count = argc > 2 ? atol(argv[2]) : 0;

	for (long i = 0; i < count; i++)
		lttng_ust_tracepoint(shop, sale, "book", (uint64_t) i, 0.5, -2);
	lttng_ust_tracepoint(shop, every, 1, 2, 3, -4, -5, -6, 0.5f);
	return 0;
}
