//! The checked-in bindings are what bindgen makes from the installed headers.
//!
//! `OVERWRITE=1 cargo test -p lttng-runtime --test bindings` generates them again.

use std::path::Path;

const HEADERS: [&str; 4] = ["tracepoint-types", "ust-events", "ust-ringbuffer-context", "ust-tracer"];

const TYPES: [&str; 7] = [
    "lttng_ust_probe_desc",
    "lttng_ust_type_(common|string)",
    "lttng_ust_event_(recorder|notifier|filter_result)",
    "lttng_ust_(probe|notification|ring_buffer)_ctx",
    "lttng_ust_registered_probe",
    "lttng_ust_string_encoding",
    "lttng_ust_event_common",
];

#[test]
fn bindings_are_those_of_the_installed_headers() {
    let includes: Vec<_> = HEADERS.iter().map(|name| format!("#include <lttng/{name}.h>\n")).collect();
    let mut builder = bindgen::Builder::default().header_contents("bindings.h", &includes.concat());
    for name in TYPES {
        builder = builder.allowlist_type(name);
    }
    let made = builder
        // They have bit fields, for which bindgen writes hundreds of lines; tracepoints are bound by lttng-provider.
        .blocklist_type("lttng_ust_type_(integer|float)|lttng_ust_event_field|lttng_ust_tracepoint(_probe)?")
        .allowlist_var("LTTNG_UST_PROVIDER_(MAJOR|MINOR)")
        .layout_tests(false)
        .derive_debug(false)
        .generate_comments(false)
        .raw_line("//! The part of LTTng-UST's headers that describes and records events, made by bindgen.")
        .raw_line("//! `tests/bindings.rs` compares, and generates it again if asked.")
        .raw_line("#![allow(missing_docs, non_camel_case_types, non_upper_case_globals, dead_code)]")
        .raw_line("use super::describe::lttng_ust_event_field;")
        .raw_line("pub use super::tracepoint::lttng_ust_tracepoint;")
        .disable_header_comment()
        .generate()
        .expect("the headers of LTTng-UST are installed: run `make setup`")
        .to_string();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/ffi/bindings.rs");
    lttng_testing::assert_golden(path, &made);
}
