TRACEPOINT_ENUM(shop, payment, TP_ENUM_VALUES(ctf_enum_range("CASH", 0, 3) ctf_enum_value("CARD", 2)))

TRACEPOINT_EVENT(shop, sale, TP_ARGS(int, a), TP_FIELDS(ctf_enum(shop, payment, int, a, a)))
