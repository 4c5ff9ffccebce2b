/* SPDX-License-Identifier: MIT */
#define LTTNG_UST_TRACEPOINT_PROVIDER shop
#include <lttng/tracepoint.h>

// Something was sold.
LTTNG_UST_TRACEPOINT_EVENT(shop, sale,
    LTTNG_UST_TP_ARGS(struct basket *, basket, uint64_t, took),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_integer(int, items, basket->items)
        lttng_ust_field_integer_hex(void *, basket, basket)
        lttng_ust_field_integer(uint64_t, took, (took))
        lttng_ust_field_integer(uint64_t, took_again, took)
        lttng_ust_field_unused(basket)
    )
)
LTTNG_UST_TRACEPOINT_EVENT(shop, closed, LTTNG_UST_TP_ARGS(), LTTNG_UST_TP_FIELDS())
