TRACEPOINT_EVENT(shop, sale, TP_ARGS(int, a, int), TP_FIELDS(ctf_integer(int, a, a)))
TRACEPOINT_EVENT(shop, other)
TRACEPOINT_EVENT(shop, third, TP_FIELDS(), TP_ARGS())
TRACEPOINT_EVENT(shop:fourth, a b, TP_ARGS(), TP_FIELDS())
