#undef TRACEPOINT_PROVIDER
#define TRACEPOINT_PROVIDER shop

#undef TRACEPOINT_INCLUDE
#define TRACEPOINT_INCLUDE "./shop-tp.h"

#if !defined(_SHOP_TP_H) || defined(TRACEPOINT_HEADER_MULTI_READ)
#define _SHOP_TP_H

#include <lttng/tracepoint.h>

/* Something was sold. */
TRACEPOINT_EVENT(
    shop,
    sale,
    TP_ARGS(
        int, price,
        const char *, what
    ),
    TP_FIELDS(
        /* In cents. */
        ctf_integer(int, price, price)
        ctf_string(article, what) /* Which one. */
    )
)

TRACEPOINT_EVENT(TRACEPOINT_PROVIDER, closed, TP_ARGS(void), TP_FIELDS())

#endif /* _SHOP_TP_H */

#include <lttng/tracepoint-event.h>
