#define NAMED(name) ctf_integer(int, the_##name, name)
#define LABEL(name) ctf_enum_value(#name, name)
TRACEPOINT_EVENT(shop, sale, TP_ARGS(int, price), TP_FIELDS(NAMED(price)))
TRACEPOINT_ENUM(shop, payment, TP_ENUM_VALUES(LABEL(CASH)))
