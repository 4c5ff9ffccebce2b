//! Which crates of others this project takes in: under which licences, from where, and in how many versions.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;

use lttng_testing::{CommandInTime as _, workspace};
use serde_json::Value;

/// What a dependency's manifest may say. All of them allow use in programs under any licence; a new one is to be read first.
const LICENCES: &[&str] = &[
    "(MIT OR Apache-2.0) AND Unicode-3.0",
    "0BSD OR MIT OR Apache-2.0",
    "Apache-2.0 / MIT",
    "Apache-2.0 AND ISC",
    "Apache-2.0 OR BSL-1.0",
    "Apache-2.0 OR ISC OR MIT",
    "Apache-2.0 OR MIT",
    "Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT",
    "Apache-2.0",
    "Apache-2.0/MIT",
    "BSD-2-Clause OR Apache-2.0 OR MIT",
    "BSD-3-Clause",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT OR Apache-2.0 OR LGPL-2.1-or-later",
    "MIT OR Apache-2.0",
    "MIT OR Zlib OR Apache-2.0",
    "MIT",
    "MIT/Apache-2.0",
    "Unicode-3.0",
    "Unlicense OR MIT",
    "Unlicense/MIT",
    "Zlib OR Apache-2.0 OR MIT",
    "Zlib",
];

/// Crates that published crates need in several versions, and why that cannot be helped.
const DUPLICATES: &[(&str, &str)] = &[
    ("bitflags", "defmt, which jiff names for microcontrollers and nothing here compiles, needs 1.x"),
    ("itertools", "bindgen, which only the feature babeltrace2 builds with, needs an older one"),
    ("shlex", "bindgen, which only the feature babeltrace2 builds with, needs an older one"),
    ("signal-hook", "crossterm needs 0.3; ltt-top uses 0.4"),
    ("syn", "serde and clap have moved to 3.x; ratatui's macros and lttng-provider-derive are at 2.x"),
];

#[test]
fn licences_are_among_those_that_were_read() {
    for package in foreign() {
        let licence = text(&package, "license");
        assert!(
            LICENCES.contains(&licence),
            "{}: the licence `{licence}` is not in the list of tests/end_to_end/dependencies.rs: read it, then add it or drop the crate",
            name(&package)
        );
    }
}

#[test]
fn dependencies_come_from_one_registry_alone() {
    // A Git address or a folder could not be published.
    let sources: BTreeSet<String> =
        foreign().iter().map(|package| text(package, "source").to_owned()).collect();
    let is_registry = |source: &String| source.starts_with("registry+");
    assert!(
        sources.len() == 1 && sources.iter().all(is_registry),
        "depend on published versions: {sources:?}"
    );
}

#[test]
fn users_of_published_crates_compile_no_crate_twice_without_a_reason() {
    let metadata = metadata();
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in needed_by_published(&metadata) {
        versions.entry(text(package, "name")).or_default().insert(text(package, "version"));
    }
    versions.retain(|_, versions| versions.len() > 1);
    for (name, versions) in &versions {
        assert!(
            DUPLICATES.iter().any(|(known, _)| known == name),
            "{name} is needed in the versions {versions:?}: `cargo tree --invert {name}@VERSION` says by whom; make them \
             agree, or add the reason to tests/end_to_end/dependencies.rs"
        );
    }
    for (name, _) in DUPLICATES {
        assert!(
            versions.contains_key(name),
            "{name} has one version now: take it off the list of tests/end_to_end/dependencies.rs"
        );
    }
}

#[test]
fn published_crates_need_only_published_crates() {
    let metadata = metadata();
    let published: Vec<&Value> = packages(&metadata).filter(|package| is_published(package)).collect();
    assert!(published.len() > 5, "only {} crates are published", published.len());
    for package in &published {
        for dependency in package["dependencies"].as_array().unwrap() {
            // Cargo leaves dev-dependencies without a version out of packages.
            let has_version = dependency["req"] != "*";
            if dependency["path"].is_null() || (dependency["kind"] == "dev" && !has_version) {
                continue;
            }
            let needed = text(dependency, "name");
            assert!(has_version, "{} needs {needed} without a version", name(package));
            let found = published.iter().any(|package| package["name"] == needed);
            assert!(found, "{} needs {needed}, which is not published", name(package));
        }
    }
}

#[test]
fn written_order_of_publishing_holds() {
    let document = fs::read_to_string(workspace().join("docs/releasing.md")).unwrap();
    let mut order = BTreeMap::new();
    for row in document.lines().filter(|line| line.starts_with("| ") && line.ends_with('|')) {
        let mut cells = row.split('|').map(str::trim).skip(1);
        let Some(Ok(step)) = cells.next().map(str::parse::<u32>) else { continue };
        let names = cells.next().unwrap().split(", ").map(|name| name.trim_matches('`').to_owned());
        order.extend(names.map(|name| (name, step)));
    }
    let metadata = metadata();
    for package in packages(&metadata).filter(|package| is_published(package)) {
        let step =
            |name: &str| *order.get(name).unwrap_or_else(|| panic!("docs/releasing.md does not list {name}"));
        for dependency in package["dependencies"].as_array().unwrap() {
            if dependency["path"].is_null() || dependency["req"] == "*" {
                continue;
            }
            let (first, then) = (text(dependency, "name"), text(package, "name"));
            assert!(step(first) < step(then), "docs/releasing.md: {first} must be published before {then}");
        }
    }
}

/// What a program compiles besides itself to be traced by a catalog, whether tracing is on or off. Each crate takes time from every clean
/// build of such a program.
const COMPILED: &[&str] = &[
    "cc",
    "find-msvc-tools",
    "futures-core",
    "lttng-catalog",
    "lttng-provider",
    "lttng-provider-build",
    "lttng-provider-derive",
    "pkg-config",
    "proc-macro2",
    "quote",
    "shlex",
    "syn",
    "unicode-ident",
];

#[test]
fn a_traced_program_compiles_few_crates() {
    let metadata = metadata();
    let is_root =
        |package: &Value| ["lttng-provider", "lttng-provider-build"].contains(&text(package, "name"));
    let compiled: BTreeSet<&str> =
        needed_by(&metadata, is_root).iter().map(|package| text(package, "name")).collect();
    assert_eq!(compiled, COMPILED.iter().copied().collect());
    let derive =
        packages(&metadata).find(|package| text(package, "name") == "lttng-provider-derive").unwrap();
    let needs_full = |dependency: &Value| {
        text(dependency, "name") == "syn"
            && dependency["kind"].is_null()
            && dependency["features"].as_array().unwrap().contains(&"full".into())
    };
    assert!(
        !derive["dependencies"].as_array().unwrap().iter().any(needs_full),
        "it doubles the time of `syn`"
    );
}

/// What the published crates need to be built, directly or not: what enters the builds of those who use them.
fn needed_by_published(metadata: &Value) -> Vec<&Value> {
    needed_by(metadata, is_published)
}

/// What some packages need to be built, directly or not, and themselves.
fn needed_by(metadata: &Value, is_root: impl Fn(&Value) -> bool) -> Vec<&Value> {
    let nodes = metadata["resolve"]["nodes"].as_array().unwrap();
    let nodes: BTreeMap<&str, &Value> = nodes.iter().map(|node| (text(node, "id"), node)).collect();
    let mut to_visit: Vec<&str> =
        packages(metadata).filter(|package| is_root(package)).map(|package| text(package, "id")).collect();
    let mut needed = BTreeSet::new();
    while let Some(id) = to_visit.pop() {
        if !needed.insert(id) {
            continue;
        }
        for dependency in nodes[id]["deps"].as_array().unwrap() {
            let mut kinds = dependency["dep_kinds"].as_array().unwrap().iter();
            if kinds.any(|kind| kind["kind"] != "dev") {
                to_visit.push(text(dependency, "pkg"));
            }
        }
    }
    packages(metadata).filter(|package| needed.contains(text(package, "id"))).collect()
}

fn is_published(package: &Value) -> bool {
    package["source"].is_null() && package["publish"] != Value::Array(Vec::new())
}

/// All packages of others, for all platforms and with all features.
fn foreign() -> Vec<Value> {
    let metadata = metadata();
    let foreign: Vec<_> =
        packages(&metadata).filter(|package| !package["source"].is_null()).cloned().collect();
    assert!(foreign.len() > 50, "cargo metadata lists only {} dependencies", foreign.len());
    foreign
}

fn metadata() -> Value {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--format-version=1", "--all-features", "--locked"]);
    serde_json::from_str(&cargo.current_dir(workspace()).succeed()).unwrap()
}

fn packages(metadata: &Value) -> impl Iterator<Item = &Value> {
    metadata["packages"].as_array().unwrap().iter()
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

fn name(package: &Value) -> String {
    format!("{} {}", text(package, "name"), text(package, "version"))
}
