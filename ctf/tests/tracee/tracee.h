/* Events with every kind of field that LTTng-UST has. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER tracee

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./tracee.h"

#if !defined(TRACEE_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define TRACEE_H

#include <lttng/tracepoint.h>
#include <stdint.h>

LTTNG_UST_TRACEPOINT_ENUM(
	tracee, colour,
	LTTNG_UST_TP_ENUM_VALUES(
		lttng_ust_field_enum_value("RED", 0)
		lttng_ust_field_enum_value("GREEN", 1)
		lttng_ust_field_enum_range("SHADE", 10, 19)
		lttng_ust_field_enum_value("BELOW", -5)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(
	tracee, every_type,
	LTTNG_UST_TP_ARGS(uint64_t, number, const char *, text, const int32_t *, numbers, int, length),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint8_t, u8, (uint8_t) number)
		lttng_ust_field_integer(int8_t, i8, (int8_t) number)
		lttng_ust_field_integer(uint16_t, u16, (uint16_t) number)
		lttng_ust_field_integer(int32_t, i32, (int32_t) -number)
		lttng_ust_field_integer(uint64_t, u64, -number)
		lttng_ust_field_integer(int64_t, i64, -(int64_t) number)
		lttng_ust_field_float(float, f32, (float) number / 2)
		lttng_ust_field_float(double, f64, (double) number / 4)
		lttng_ust_field_string(text, text)
		lttng_ust_field_array(int32_t, pair, numbers, 2)
		lttng_ust_field_array_text(char, fixed, "fixed\0stale", 12)
		lttng_ust_field_sequence(int32_t, numbers, numbers, uint32_t, length)
		lttng_ust_field_sequence_text(char, letters, text, uint16_t, length)
		lttng_ust_field_enum(tracee, colour, int, colour, (int) (number % 25) - 5)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(
	tracee, work,
	LTTNG_UST_TP_ARGS(uint64_t, duration),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, duration, duration))
)

#endif

#include <lttng/tracepoint-event.h>
