#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER shop

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "offers-tp.h"

#if !defined(OFFERS_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define OFFERS_TP_H

#include <lttng/tracepoint.h>
#include <stddef.h>
#include <stdint.h>

LTTNG_UST_TRACEPOINT_ENUM(shop, payment,
	LTTNG_UST_TP_ENUM_VALUES(
		lttng_ust_field_enum_value("CASH", 0)
		lttng_ust_field_enum_range("CARD", 1, 3)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(shop, sale,
	LTTNG_UST_TP_ARGS(int, price, const char *, article, double, rate),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(int, price, price)
		lttng_ust_field_integer_hex(uint16_t, hex, price)
		lttng_ust_field_integer_network(uint32_t, network, price)
		lttng_ust_field_integer_nowrite(int64_t, hidden, price)
		lttng_ust_field_string(article, article)
		lttng_ust_field_float(double, rate, rate)
		lttng_ust_field_float(float, narrow, rate)
		lttng_ust_field_enum(shop, payment, int8_t, paid, price)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(shop, lists,
	LTTNG_UST_TP_ARGS(const char *, text, size_t, length),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_array(uint8_t, four, text, 4)
		lttng_ust_field_array_text(char, tag, text, 3)
		lttng_ust_field_sequence(int16_t, numbers, text, size_t, length / 2)
		lttng_ust_field_sequence_hex(uint8_t, bytes, text, uint8_t, length)
		lttng_ust_field_sequence_text(char, text, text, uint32_t, length)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(shop, closed, LTTNG_UST_TP_ARGS(), LTTNG_UST_TP_FIELDS())

#endif

#include <lttng/tracepoint-event.h>
