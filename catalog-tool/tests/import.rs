//! Golden cases of the import, one file a claim: `accepted/*.d` and `*.h` with the catalog and the notes beside it,
//! `refused/…` with the errors. `OVERWRITE=1` rewrites what is expected.

use std::fs;
use std::path::{Path, PathBuf};

use lttng_catalog::Catalog;
use lttng_catalog_cli::diff::diff;
use lttng_catalog_cli::import::{Imported, Options, Problems, header, provider_file};
use lttng_testing::check_golden;

#[test]
fn accepted_files_become_these_catalogs() {
    let cases = cases("accepted");
    assert!(cases.len() >= 17, "only {} cases are left", cases.len());
    compare(&cases, "toml", |case| match import(case) {
        Ok(imported) => {
            Catalog::parse("imported", &imported.text).map_err(|errors| errors.to_string())?;
            let notes = imported.notes.iter().map(|note| format!("# {}: {}\n", note.line, note.message));
            Ok(imported.text + "\n" + &notes.collect::<String>())
        }
        Err(problems) => Err(format!("the file was refused:\n{problems}")),
    });
}

#[test]
fn refused_files_are_refused_with_these_words() {
    let cases = cases("refused");
    assert!(cases.len() >= 13, "only {} cases are left", cases.len());
    compare(&cases, "txt", |case| match import(case) {
        Ok(imported) => Err(format!("the file was accepted:\n{}", imported.text)),
        Err(problems) => Ok(format!("{problems}\n")),
    });
}

/// What documentation by hand may add, and what it may not change.
#[test]
fn the_catalogs_of_memcached_and_redis_are_what_was_imported() {
    for (catalog, events) in [(lttng_catalog::memcached(), 30), (lttng_catalog::redis(), 17)] {
        assert_eq!(catalog.events().count(), events);
        let file = folder("accepted").join(format!("{}.d", catalog.name));
        let imported = import(&file).expect("it is a provider file");
        let imported = Catalog::parse("imported", &imported.text).expect("it is a catalog");
        for change in diff(&imported, &catalog).changes {
            let is_meaning = change.change.starts_with("group-by") || change.change.starts_with("client");
            assert!(!change.caller && (!change.reader || is_meaning), "{change:?}");
        }
        assert!(!format!("{catalog:?}").contains("TODO"));
    }
}

#[test]
fn a_pair_can_stay_two_events() {
    let text = fs::read_to_string(folder("accepted").join("memcached.d")).expect("the file is there");
    let options = Options { keep_pairs: true, ..Options::default() };
    let imported = provider_file("memcached.d", &text, &options).expect("it is a provider file");
    let catalog = Catalog::parse("imported", &imported.text).expect("it is a catalog");
    assert_eq!(catalog.events().count(), text.matches("\n   probe ").count());
    assert!(catalog.event("memcached", "process__command__start").is_some());
}

fn import(case: &Path) -> Result<Imported, Problems> {
    let name = case.file_name().unwrap_or_default().to_string_lossy();
    let bytes = fs::read(case).unwrap_or_else(|error| panic!("{name}: {error}"));
    let text = String::from_utf8_lossy(&bytes);
    match name.ends_with(".d") {
        true => provider_file(&name, &text, &Options::default()),
        false => header(&name, &text, &Options::default()),
    }
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/import").join(name)
}

fn cases(name: &str) -> Vec<PathBuf> {
    let folder = folder(name);
    let mut cases: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("a folder entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "d" || extension == "h"))
        .collect();
    cases.sort();
    cases
}

/// Compares what `run` makes of each case with the file beside it, and reports all differences.
fn compare(cases: &[PathBuf], extension: &str, run: impl Fn(&Path) -> Result<String, String>) {
    let mut failures = Vec::new();
    for case in cases {
        let name = case.display();
        let compared = run(case).map_err(|failure| format!("{name}: {failure}"));
        let compared = compared.and_then(|actual| check_golden(case.with_extension(extension), &actual));
        failures.extend(compared.err());
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
