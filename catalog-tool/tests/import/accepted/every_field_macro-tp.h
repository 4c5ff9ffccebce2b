#define SIZE 16
LTTNG_UST_TRACEPOINT_EVENT(types, numbers, LTTNG_UST_TP_ARGS(int, a),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_integer(int, integer, a)
        lttng_ust_field_integer_hex(unsigned long, hex, a)
        lttng_ust_field_integer_network(uint16_t, network, a)
        lttng_ust_field_integer_network_hex(uint32_t, network_hex, a)
        lttng_ust_field_integer_nowrite(int, unrecorded, a)
        lttng_ust_field_integer(bool, truth, a)
        lttng_ust_field_float(float, single, a)
        lttng_ust_field_float(double, twice, a)))
LTTNG_UST_TRACEPOINT_EVENT(types, lists, LTTNG_UST_TP_ARGS(const char *, s, size_t, n),
    LTTNG_UST_TP_FIELDS(
        ctf_array(int, array, s, 4)
        ctf_array_hex(uint8_t, array_hex, s, SIZE)
        ctf_array_network(uint16_t, array_network, s, (2))
        ctf_array_text(char, array_text, s, 16)
        ctf_sequence(uint32_t, sequence, s, size_t, n)
        ctf_sequence_hex(uint8_t, bytes, s, uint32_t, n)))
LTTNG_UST_TRACEPOINT_EVENT(types, texts, LTTNG_UST_TP_ARGS(const char *, s, size_t, n),
    LTTNG_UST_TP_FIELDS(
        ctf_string(string, s)
        ctf_string_nowrite(unrecorded, s)
        ctf_sequence_text(char, text, s, uint16_t, n)
        ctf_sequence_network_hex(uint64_t, addresses, s, uint8_t, n)))
