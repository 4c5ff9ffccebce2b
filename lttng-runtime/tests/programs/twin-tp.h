#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER shop

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./twin-tp.h"

#if !defined(TWIN_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define TWIN_TP_H

#include <lttng/tracepoint.h>
#include <stdint.h>

LTTNG_UST_TRACEPOINT_EVENT(shop, sale,
	LTTNG_UST_TP_ARGS(const char *, article, uint64_t, took, double, rate, int16_t, small),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_string(article, article)
		lttng_ust_field_integer(uint64_t, took, took)
		lttng_ust_field_float(double, rate, rate)
		lttng_ust_field_integer(int16_t, small, small)))
LTTNG_UST_TRACEPOINT_MODEL_EMF_URI(shop, sale, "meaning:1;duration=took;group=article;unit=took:us")

LTTNG_UST_TRACEPOINT_EVENT(shop, every,
	LTTNG_UST_TP_ARGS(uint8_t, a, uint16_t, b, uint32_t, c, int8_t, d, int32_t, e, int64_t, f, float, g),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint8_t, a, a)
		lttng_ust_field_integer_hex(uint16_t, b, b)
		lttng_ust_field_integer(uint32_t, c, c)
		lttng_ust_field_integer(int8_t, d, d)
		lttng_ust_field_integer(int32_t, e, e)
		lttng_ust_field_integer_hex(int64_t, f, f)
		lttng_ust_field_float(float, g, g)))

#endif

#include <lttng/tracepoint-event.h>
