//! The examples in the documentation have the events of `doc/shop.toml` with tracing off, as a build script would write
//! them. `OVERWRITE=1` writes them again.

use std::path::Path;

use lttng_catalog::Catalog;
use lttng_provider_build::{Options, generate};
use lttng_testing::assert_golden;

#[test]
fn examples_are_compiled_with_what_a_build_script_writes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("doc");
    let catalog = Catalog::read(folder.join("shop.toml")).unwrap_or_else(|errors| panic!("{errors}"));
    for file in generate(&[catalog], &Options::default()).unwrap() {
        assert_golden(folder.join(&file.name), &file.text);
    }
}
