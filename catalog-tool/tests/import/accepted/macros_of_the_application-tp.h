#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER SHOP
#define SHOP shop

#define BASKET_ARGS \
	size_t, items, \
	struct basket *, basket
#define BASKET_FIELDS \
	lttng_ust_field_integer(size_t, items, items) \
	lttng_ust_field_integer_hex(size_t, basket, basket)
#define ALL_ARGS LTTNG_UST_TP_ARGS(BASKET_ARGS)

LTTNG_UST_TRACEPOINT_EVENT_CLASS(SHOP, basket_class, LTTNG_UST_TP_ARGS(BASKET_ARGS), LTTNG_UST_TP_FIELDS(BASKET_FIELDS))

#define BASKET_EVENT(name) \
	LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(SHOP, basket_class, SHOP, name, ALL_ARGS) \
	LTTNG_UST_TRACEPOINT_LOGLEVEL(SHOP, name, LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO)

/* A basket was taken. */
BASKET_EVENT(taken)
/* A basket was put back. */
BASKET_EVENT(put_back)

#define EVENT(name) TRACEPOINT_EVENT(LTTNG_UST_TRACEPOINT_PROVIDER, name, TP_ARGS(void), TP_FIELDS())
/* The shop was opened. */
EVENT(opened)
EVENT(closed)

#ifndef HAVE_LTTNG
#define TRACEPOINT_EVENT(...)
#endif
