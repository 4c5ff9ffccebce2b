TRACEPOINT_EVENT(shop, sale, TP_ARGS(int, a), TP_FIELDS(
    ctf_intger(int, a, a)
    integer(int, b, a)
    ctf_integer(int, c)
    ctf_float(int, d, a)
    ctf_integer(basket_t, e, a)
    ctf_string("f", a)
    ctf_integer(struct basket, g, a),
    ctf_string(h, a)
))
