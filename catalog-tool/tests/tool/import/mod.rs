//! Golden cases of the import: `accepted.txt` has provider files and headers with the catalog and the notes that they
//! become, `refused.txt` with the errors. Those of memcached and Redis are files, as their authors published them.

use std::fs;
use std::path::{Path, PathBuf};

use lttng_catalog::Catalog;
use lttng_catalog_cli::diff::diff;
use lttng_catalog_cli::import::{Imported, Options, Problems, header, provider_file};
use lttng_testing::{assert_cases, assert_golden};

#[test]
fn accepted_files_become_these_catalogs() {
    assert_cases(file("accepted.txt"), |case| imported(&case.name, &case.input));
    for name in ["memcached", "redis"] {
        let imported = imported(&format!("{name}.d"), &read(&format!("{name}.d")));
        assert_golden(file(&format!("{name}.toml")), &imported.unwrap());
    }
}

#[test]
fn refused_files_are_refused_with_these_words() {
    assert_cases(file("refused.txt"), |case| match import(&case.name, &case.input) {
        Ok(imported) if imported.left_out.is_empty() => {
            Err(format!("the file was accepted:\n{}", imported.text))
        }
        Ok(Imported { text, left_out, .. }) => {
            let catalog = Catalog::parse("imported", &text).map_err(|errors| errors.to_string())?;
            let events =
                catalog.events().map(|(provider, event)| format!("{}:{}", provider.name, event.name));
            let problems = Problems { file: case.name.clone(), problems: left_out };
            Ok(format!("{problems}\n# imported: {}\n", events.collect::<Vec<_>>().join(", ")))
        }
        Err(problems) => Ok(format!("{problems}\n")),
    });
}

/// What documentation by hand may add, and what it may not change.
#[test]
fn the_catalogs_of_memcached_and_redis_are_what_was_imported() {
    for (catalog, events) in [(lttng_catalog::memcached(), 31), (lttng_catalog::redis(), 20)] {
        assert_eq!(catalog.events().count(), events);
        let file = format!("{}.d", catalog.name);
        let imported = import(&file, &read(&file)).expect("it is a provider file");
        let imported = Catalog::parse("imported", &imported.text).expect("it is a catalog");
        for change in diff(&imported, &catalog).changes {
            let is_meaning = change.change.starts_with("group-by") || change.change.starts_with("client");
            assert!(!change.caller && (!change.reader || is_meaning), "{change:?}");
        }
        assert!(!format!("{catalog:?}").contains("TODO"));
    }
}

#[test]
fn a_pair_can_become_one_event_with_a_duration() {
    let options = Options { join_pairs: true, ..Options::default() };
    let imported = provider_file("redis.d", &read("redis.d"), &options).expect("it is a provider file");
    let catalog = Catalog::parse("imported", &imported.text).expect("it is a catalog");
    assert_eq!(catalog.events().count(), 17);
    let call = catalog.event("redis", "call").expect("it is one event");
    assert!(call.entry && call.meaning.duration.is_some());
}

/// The catalog and the notes that a file becomes.
fn imported(name: &str, text: &str) -> Result<String, String> {
    let imported = import(name, text).map_err(|problems| format!("the file was refused:\n{problems}"))?;
    Catalog::parse("imported", &imported.text).map_err(|errors| errors.to_string())?;
    let notes = imported.notes.iter().map(|note| format!("# {}: {}\n", note.line, note.message));
    Ok(imported.text + "\n" + &notes.collect::<String>())
}

fn import(name: &str, text: &str) -> Result<Imported, Problems> {
    let import = if name.ends_with(".d") { provider_file } else { header };
    import(name, text, &Options::default())
}

pub fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tool/import").join(name)
}

fn read(name: &str) -> String {
    fs::read_to_string(file(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}
