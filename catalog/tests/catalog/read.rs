//! Catalogs in files.

use std::path::Path;

use lttng_catalog::{Catalog, valkey};

#[test]
fn a_file_is_read_as_its_text_is() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("valkey.toml");
    assert_eq!(Catalog::read(path), Ok(valkey()));
}

#[test]
fn a_missing_file_is_one_clear_line() {
    let errors = Catalog::read("no/such.toml").expect_err("the file does not exist");
    let message = errors.to_string();
    assert!(message.starts_with("no/such.toml: cannot read the catalog: No such file"), "{message}");
    assert_eq!(message.lines().count(), 1);
}

#[test]
fn a_file_that_is_no_text_is_one_clear_line() {
    let program = std::env::current_exe().expect("this test is a file");
    let message = Catalog::read(program).expect_err("a program is not a text").to_string();
    assert!(message.contains(": cannot read the catalog: "), "{message}");
    assert_eq!(message.lines().count(), 1);
}
