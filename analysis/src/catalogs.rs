//! Which catalogs to read: those of `--catalog`, of the environment, in the folder of the trace, and the built-in ones.

use std::path::{Path, PathBuf};

use lttng_catalog::Catalog;

/// The environment variable that lists catalogs, separated by colons.
const VARIABLE: &str = "LTT_TOP_CATALOG";

/// Catalogs in order of precedence, and what was ignored.
pub struct Catalogs {
    /// The catalogs.
    pub catalogs: Vec<Catalog>,
    /// Files in the folder of a trace that are named like a catalog but cannot be read as one.
    pub ignored: Vec<String>,
}

/// Reads all catalogs. It is an error if one that was asked for is invalid, but not if one in the folder of a trace is.
pub fn read(given: &[PathBuf], traces: &[PathBuf]) -> Result<Catalogs, String> {
    let variable = std::env::var_os(VARIABLE).unwrap_or_default();
    let from_environment = std::env::split_paths(&variable).filter(|path| !path.as_os_str().is_empty());
    let mut catalogs = Vec::new();
    for path in given.iter().cloned().chain(from_environment) {
        catalogs.push(Catalog::read_with_advice(&path).map_err(|errors| first_line(&errors.to_string()))?);
    }
    let mut ignored = Vec::new();
    for path in traces.iter().flat_map(|trace| beside(trace)) {
        let is_catalog = std::fs::read_to_string(&path).is_ok_and(|text| claims_to_be_catalog(&text));
        match Catalog::read_with_advice(&path) {
            Ok(catalog) => catalogs.push(catalog),
            Err(errors) if is_catalog => ignored.push(first_line(&errors.to_string())),
            Err(_) => {}
        }
    }
    catalogs.extend([
        lttng_catalog::valkey_with_advice(),
        lttng_catalog::valkey_module(),
        lttng_catalog::redis(),
        lttng_catalog::memcached(),
    ]);
    Ok(Catalogs { catalogs, ignored })
}

/// Files in a trace's folder that are named like a catalog, sorted.
fn beside(trace: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(trace).into_iter().flatten().flatten();
    let is_catalog_name = |path: &PathBuf| {
        let name = path.file_name().map_or("".into(), |name| name.to_string_lossy());
        (name == "catalog.toml" || name.ends_with(".catalog.toml")) && path.is_file()
    };
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_catalog_name).collect();
    found.sort();
    found
}

/// Whether a file has the table that every catalog has, so that the user is told what is wrong with it.
fn claims_to_be_catalog(text: &str) -> bool {
    text.lines().any(|line| line.trim_end() == "[catalog]")
}

fn first_line(message: &str) -> String {
    message.lines().next().unwrap_or(message).to_owned()
}
