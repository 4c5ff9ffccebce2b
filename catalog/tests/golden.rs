//! Golden cases, one file a claim: `refused/*.toml` with the errors beside it, `accepted/*.toml`
//! with the Markdown beside it. `OVERWRITE=1` rewrites what is expected.

use std::fs;
use std::path::{Path, PathBuf};

use lttng_catalog::{Catalog, markdown};
use lttng_testing::check_golden;

#[test]
fn refused_catalogs_are_refused_with_these_words() {
    let cases = cases("refused");
    assert!(cases.len() >= 30, "only {} cases are left", cases.len());
    compare(&cases, "txt", |name, text| match Catalog::parse(name, text) {
        Ok(_) => Err("the catalog was accepted".to_owned()),
        Err(errors) => Ok(format!("{errors}\n")),
    });
}

#[test]
fn accepted_catalogs_say_this() {
    let cases = cases("accepted");
    assert!(cases.len() >= 10, "only {} cases are left", cases.len());
    compare(&cases, "md", |name, text| match Catalog::parse(name, text) {
        Ok(catalog) => Ok(markdown(&catalog)),
        Err(errors) => Err(format!("the catalog was refused:\n{errors}")),
    });
}

fn cases(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let mut cases: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("a folder entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    cases.sort();
    cases
}

/// Compares what `run` makes of each case with the file beside it, and reports all differences.
fn compare(cases: &[PathBuf], extension: &str, run: impl Fn(&str, &str) -> Result<String, String>) {
    let mut failures = Vec::new();
    for case in cases {
        let name = case.file_name().unwrap_or_default().to_string_lossy();
        let text = fs::read_to_string(case).unwrap_or_else(|error| panic!("{name}: {error}"));
        let compared = run(&name, &text).map_err(|failure| format!("{name}: {failure}"));
        let compared = compared.and_then(|actual| check_golden(case.with_extension(extension), &actual));
        failures.extend(compared.err());
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
