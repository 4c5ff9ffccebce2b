//! `check`: which catalogs are right, and what is wrong with the others.

use std::fs;

use super::run::{catalog, said, text};

#[test]
fn the_catalogs_of_the_project_are_right() {
    let paths = ["valkey.toml", "valkey-module.toml", "memcached.toml", "redis.toml"].map(catalog);
    let said = said(["check"].into_iter().chain(paths.iter().map(|path| text(path))));
    assert_eq!((said.status, &*said.err), (0, ""));
    for line in
        ["valkey, version 1, 35 events", "memcached, version 1, 31 events", "redis, version 1, 20 events"]
    {
        assert!(said.out.contains(line), "{}", said.out);
    }
}

#[test]
fn every_error_has_its_line_also_in_json() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("wrong.toml");
    let wrong =
        fs::read_to_string(catalog("valkey.toml")).expect("it is there").replacen("\"u64\"", "\"uint64\"", 1);
    fs::write(&path, wrong).expect("a writable folder");
    let plain = said(["check", text(&path), text(&catalog("redis.toml"))]);
    assert_eq!(plain.status, 1);
    assert!(plain.out.contains("redis"), "the others are checked all the same: {}", plain.out);
    assert!(plain.err.contains("did you mean `u64`?") && plain.err.lines().count() == 1, "{}", plain.err);

    let json = said(["check", "--format", "json", text(&path)]);
    assert_eq!(json.status, 1);
    let reports: serde_json::Value = serde_json::from_str(&json.out).expect("it is JSON");
    let error = &reports[0]["errors"][0];
    assert!(
        plain.err.contains(&format!("wrong.toml:{}:{}:", error["line"], error["column"])),
        "{}",
        plain.err
    );
    assert_eq!(reports[0]["valid"], false);
}

#[test]
fn two_catalogs_with_one_provider_are_refused() {
    let path = catalog("redis.toml");
    let said = said(["check", text(&path), text(&path)]);
    assert_eq!(said.status, 1);
    assert!(said.err.contains("two catalogs have a provider `redis`"), "{}", said.err);
}

#[test]
fn a_file_that_never_ends_is_refused() {
    let said = said(["check", "/dev/zero"]);
    assert_eq!(said.status, 1);
    assert!(said.err.contains("at most 1 MiB"), "{}", said.err);
}
