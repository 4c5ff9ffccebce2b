#include <lttng/tracepoint.h>
#define EVENT(name) TRACEPOINT_EVENT(shop, name, TP_ARGS(void), TP_FIELDS())
