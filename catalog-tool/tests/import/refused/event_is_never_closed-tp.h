TRACEPOINT_EVENT(shop, sale, TP_ARGS(int, a), TP_FIELDS(ctf_integer(int, a, a))

TRACEPOINT_EVENT(shop, refund, TP_ARGS(int, a), TP_FIELDS(ctf_integer(int, a, a)))
