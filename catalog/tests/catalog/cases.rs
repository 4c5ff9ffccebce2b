//! Golden cases: `refused-*.txt` with the errors of invalid catalogs, `accepted.txt` with the Markdown of valid ones.

use std::path::{Path, PathBuf};

use lttng_catalog::{Catalog, markdown};
use lttng_testing::assert_cases;

/// What is refused, by what is wrong.
pub const REFUSED: [&str; 5] = ["enums", "format", "meaning", "names", "types"];

#[test]
fn refused_catalogs_are_refused_with_these_words() {
    for topic in REFUSED {
        assert_cases(table(&format!("refused-{topic}")), |case| {
            match Catalog::parse(&case.name, &case.input) {
                Ok(_) => Err("the catalog was accepted".to_owned()),
                Err(errors) => Ok(format!("{errors}\n")),
            }
        });
    }
}

#[test]
fn accepted_catalogs_say_this() {
    assert_cases(table("accepted"), |case| match Catalog::parse(&case.name, &case.input) {
        Ok(catalog) => Ok(markdown(&catalog)),
        Err(errors) => Err(format!("the catalog was refused:\n{errors}")),
    });
}

pub fn table(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(name).with_extension("txt")
}
