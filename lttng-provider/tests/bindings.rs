//! The checked-in bindings are what bindgen makes from the installed headers.
//!
//! `OVERWRITE=1 cargo test -p lttng-provider --test bindings` generates them again.

use std::path::Path;

#[test]
#[ignore = "make check: libclang"]
fn bindings_are_those_of_the_installed_headers() {
    let made = bindgen::Builder::default()
        .header_contents("bindings.h", "#include <lttng/tracepoint-types.h>")
        .allowlist_type("lttng_ust_tracepoint")
        // Their numbers hold for one architecture; the test of every field type in a trace holds for all.
        .layout_tests(false)
        .raw_line("//! The part of <lttng/tracepoint-types.h> that the enabled check reads, made by bindgen.")
        .raw_line("//! `tests/bindings.rs` compares, and generates it again if asked.")
        .raw_line("#![allow(missing_docs, non_camel_case_types, dead_code)]")
        .disable_header_comment()
        .generate()
        .expect("the headers of LTTng-UST are installed: run `make setup`")
        .to_string();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bindings.rs");
    lttng_testing::assert_golden(path, &made);
}
