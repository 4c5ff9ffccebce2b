#define LAST 9
/* How it was paid. */
LTTNG_UST_TRACEPOINT_ENUM(shop, payment,
    LTTNG_UST_TP_ENUM_VALUES(
        lttng_ust_field_enum_value("CASH", 0) /* Coins and notes. */
        lttng_ust_field_enum_range("CARD", 0x2, 4)
        lttng_ust_field_enum_auto("CHEQUE")
        lttng_ust_field_enum_value("DEBT", -1)
        lttng_ust_field_enum_value("GIFT " "CARD", LAST)
    )
)
TRACEPOINT_ENUM(shop, unused, TP_ENUM_VALUES(ctf_enum_value("A", 1)))
LTTNG_UST_TRACEPOINT_EVENT(shop, sale, LTTNG_UST_TP_ARGS(int, how),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_enum(shop, payment, int, how, how)
        lttng_ust_field_enum(shop, payment, signed char, narrow, how)))
LTTNG_UST_TRACEPOINT_EVENT(store, sale, LTTNG_UST_TP_ARGS(int, how),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_enum_nowrite(shop, payment, int, how, how)))
