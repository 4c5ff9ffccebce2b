TRACEPOINT_EVENT_INSTANCE(shop, move, shelf, TP_ARGS(int, from))
TRACEPOINT_EVENT(shop, sale, TP_ARGS(int, a), TP_FIELDS(ctf_enum(shop, payment, int, a, a)))
TRACEPOINT_LOGLEVEL(shop, sold, TRACE_INFO)
TRACEPOINT_LOGLEVEL(shop, sale, TRACE_LOUD)
