#ifdef __cplusplus
extern "C" {
#endif
#if 0
TRACEPOINT_EVENT(shop, old, TP_ARGS(int, a), TP_FIELDS(ctf_gone(a)))
#else
static inline int unrelated(int a) { return (a); }
TRACEPOINT_EVENT(shop, sale, TP_ARGS(int, a), TP_FIELDS(ctf_integer(int, a, a ? (a, 1) : 2)))
#endif
