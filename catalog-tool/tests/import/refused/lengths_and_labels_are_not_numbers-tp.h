TRACEPOINT_ENUM(shop, payment, TP_ENUM_VALUES(
    ctf_enum_value("CASH", PAYMENT_CASH)
    ctf_enum_value(CARD, 1)
    ctf_enum_other("DEBT", 1)
    ctf_enum_range("GIFT", 1)))
TRACEPOINT_EVENT(shop, sale, TP_ARGS(int, a), TP_FIELDS(
    ctf_array(int, a, a, sizeof(a))
    ctf_array(int, b, a, -1)
    ctf_array(float, c, a, 2)))
