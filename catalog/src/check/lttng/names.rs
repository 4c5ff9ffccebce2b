//! Names that LTTng reserves or cuts off.

/// The longest name that LTTng keeps whole, in bytes.
pub(super) const LONGEST: usize = 255;

/// What the macros use in the functions that they expand to: an argument would hide it.
const USED_BY_MACROS: &[&str] = &[
    "abort", "int16_t", "int32_t", "int64_t", "int8_t", "memcpy", "size_t", "strlen", "uint16_t", "uint32_t",
    "uint64_t", "uint8_t",
];

/// Macros without parentheses in the headers that a provider includes, and the beginnings of generated names.
const RESERVED: &[&str] = &[
    "lttng_fast",
    "lttng_provider",
    "lttng_ust_notrace",
    "lttng_ust_probe_register",
    "lttng_ust_probe_unregister",
    "lttng_ust_tp_rcu_read_",
    "lttng_usdt",
];

/// Why LTTng refuses a name. Its own libraries have providers that begin with `lttng_`.
pub(in crate::check) fn wrong_name(name: &str) -> Option<String> {
    RESERVED
        .iter()
        .any(|reserved| name.starts_with(reserved))
        .then(|| format!("`{name}` is reserved: LTTng or generated code use it; choose another name"))
}

/// Why LTTng refuses a good name for an argument.
pub(in crate::check) fn wrong_argument(name: &str) -> Option<String> {
    (USED_BY_MACROS.contains(&name) || name.starts_with("lttng_"))
        .then(|| format!("LTTng-UST's macros use `{name}`; give the argument another name with `arg`"))
}
