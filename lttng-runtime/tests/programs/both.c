/* The same event twice in a program: through LTTng's macros, and declared at run time with other fields. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "twin-tp.h"

#include <lttng-runtime.h>

int main(void)
{
	lttng_runtime_provider *shop = lttng_runtime_open("shop", "sale(took: u64, article: string)", NULL, 0);
	lttng_runtime_event *sale = lttng_runtime_find(shop, "sale", NULL, 0);

	for (uint64_t i = 0; i < 3; i++) {
		LTTNG_RUNTIME_EVENT(sale, lttng_runtime_unsigned(i), lttng_runtime_text("at run time"));
		lttng_ust_tracepoint(shop, sale, "by macro", i, 0.5, -2);
	}
	lttng_runtime_free(shop);
	lttng_ust_tracepoint(shop, sale, "by macro", 3, 0.5, -2);
	return 0;
}
