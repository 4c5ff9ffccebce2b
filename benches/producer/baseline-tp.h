/* The two shapes of Valkey's events, as Valkey writes them. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER baseline

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "baseline-tp.h"

#if !defined(BASELINE_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BASELINE_TP_H

#include <stdint.h>

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_ENUM(baseline, protocol,
	LTTNG_UST_TP_ENUM_VALUES(
		lttng_ust_field_enum_value("SOCKET", 0)
		lttng_ust_field_enum_value("UNIX", 1)
		lttng_ust_field_enum_value("TLS", 2)
		lttng_ust_field_enum_value("RDMA", 3)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(baseline, command_call,
	LTTNG_UST_TP_ARGS(int, prot, char *, addr, char *, laddr, char *, name, uint64_t, duration),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_enum(baseline, protocol, int, enum_field, prot)
		lttng_ust_field_string(addr, addr)
		lttng_ust_field_string(laddr, laddr)
		lttng_ust_field_string(name, name)
		lttng_ust_field_integer(uint64_t, duration, duration)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(baseline, duration,
	LTTNG_UST_TP_ARGS(uint64_t, duration),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint64_t, duration, duration)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(baseline, nothing,
	LTTNG_UST_TP_ARGS(),
	LTTNG_UST_TP_FIELDS()
)

#endif

#include <lttng/tracepoint-event.h>
