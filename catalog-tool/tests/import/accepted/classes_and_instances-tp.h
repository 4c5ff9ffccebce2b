/* What all moves have. */
TRACEPOINT_EVENT_CLASS(shop, move,
    TP_ARGS(int, from, int, to),
    TP_FIELDS(ctf_integer(int, from, from) ctf_integer(int, to, to)))
/* Shelf to shelf. */
TRACEPOINT_EVENT_INSTANCE(shop, move, shelf, TP_ARGS(int, from, int, to))
/* The class had this name, too. */
TRACEPOINT_EVENT_INSTANCE(shop, move, move, TP_ARGS(int, from, int, to))
LTTNG_UST_TRACEPOINT_EVENT_CLASS(shop, empty, LTTNG_UST_TP_ARGS(void), LTTNG_UST_TP_FIELDS())
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(shop, empty, shop, nothing, LTTNG_UST_TP_ARGS(void))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(shop, move, store, elsewhere, LTTNG_UST_TP_ARGS(int, from, int, to))
TRACEPOINT_EVENT_CLASS(shop, unused, TP_ARGS(int, a), TP_FIELDS(ctf_integer(int, a, a)))
