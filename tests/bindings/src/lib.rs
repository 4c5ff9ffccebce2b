//! The checked-in bindings are what bindgen makes of the installed headers.
//!
//! `OVERWRITE=1 cargo test --manifest-path tests/bindings/Cargo.toml` generates them again.
#![cfg(test)]

use bindgen::Builder;
use lttng_testing::{assert_golden, workspace};

const NEW_EVENTS: [&str; 7] = [
    "lttng_ust_probe_desc",
    "lttng_ust_type_(common|string)",
    "lttng_ust_event_(recorder|notifier|filter_result)",
    "lttng_ust_(probe|notification|ring_buffer)_ctx",
    "lttng_ust_registered_probe",
    "lttng_ust_string_encoding",
    "lttng_ust_event_common",
];

/// Types with bit fields, for which bindgen would write hundreds of lines. The bit fields are one number here: the first
/// is the lowest bit, as on all little-endian machines that run LTTng.
const BIT_FIELDS: &str = "
#[repr(C)]
#[derive(Copy, Clone)]
pub struct lttng_ust_event_field {
    pub struct_size: u32,
    pub name: *const ::std::os::raw::c_char,
    pub type_: *const lttng_ust_type_common,
    pub nowrite_nofilter: u32,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct lttng_ust_type_integer {
    pub parent: lttng_ust_type_common,
    pub struct_size: u32,
    pub size: u32,
    pub alignment: u16,
    pub signedness_reverse_byte_order: u16,
    pub base: u32,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct lttng_ust_type_float {
    pub parent: lttng_ust_type_common,
    pub struct_size: u32,
    pub exp_dig: u32,
    pub mant_dig: u32,
    pub alignment: u16,
    pub reverse_byte_order: u16,
}";

#[test]
fn enabled_check_reads_what_the_headers_say() {
    let builder = include(&["tracepoint-types"]).allowlist_type("lttng_ust_tracepoint");
    compare(
        "lttng-provider/src/bindings.rs",
        "The part of <lttng/tracepoint-types.h> that the enabled check reads",
        "#![allow(missing_docs, non_camel_case_types, dead_code)]",
        builder,
    );
}

#[test]
fn events_are_described_as_the_headers_say() {
    let builder = include(&["tracepoint-types", "ust-events", "ust-ringbuffer-context", "ust-tracer"]);
    let builder = NEW_EVENTS.iter().fold(builder, |builder, name| builder.allowlist_type(name));
    compare(
        "lttng-runtime/src/ffi/bindings.rs",
        "The part of LTTng-UST's headers that describes and records events",
        &format!(
            "#![allow(missing_docs, non_camel_case_types, non_upper_case_globals, dead_code)]\n\
             pub use super::tracepoint::lttng_ust_tracepoint;\n{BIT_FIELDS}"
        ),
        builder
            // The former are in `BIT_FIELDS`; tracepoints are bound by lttng-provider.
            .blocklist_type(
                "lttng_ust_type_(integer|float)|lttng_ust_event_field|lttng_ust_tracepoint(_probe)?",
            )
            .allowlist_var("LTTNG_UST_PROVIDER_(MAJOR|MINOR)")
            .derive_debug(false)
            .generate_comments(false),
    );
}

fn include(headers: &[&str]) -> Builder {
    let includes: String = headers.iter().map(|name| format!("#include <lttng/{name}.h>\n")).collect();
    Builder::default().header_contents("bindings.h", &includes)
}

fn compare(file: &str, about: &str, begin: &str, builder: Builder) {
    let made = builder
        // Their numbers hold for one architecture; the test of every field type in a trace holds for all.
        .layout_tests(false)
        .raw_line(format!("//! {about}, made by bindgen."))
        .raw_line("//! `tests/bindings` compares, and generates it again if asked.")
        .raw_line(begin)
        .disable_header_comment()
        .generate()
        .expect("the headers of LTTng-UST are installed: run `make setup`");
    assert_golden(workspace().join(file), &made.to_string());
}
