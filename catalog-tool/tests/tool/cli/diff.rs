//! `diff`: every kind of change, as a table and for CI.

use std::fs;

use lttng_testing::assert_golden;

use super::run::{case, catalog, said, text};

fn cases() -> (std::path::PathBuf, std::path::PathBuf) {
    (case("cli/diff/old.toml"), case("cli/diff/new.toml"))
}

#[test]
fn every_kind_of_change_is_told_with_who_notices() {
    let (old, new) = cases();
    let said = said(["diff", text(&old), text(&new)]);
    assert_eq!((said.status, &*said.err), (3, ""));
    assert_golden(case("cli/diff/changes.txt"), &said.out);
}

#[test]
fn the_same_twice_is_nothing() {
    let path = catalog("valkey.toml");
    let said = said(["diff", text(&path), text(&path)]);
    assert_eq!((said.status, &*said.out), (0, "nothing changed\n"));
}

#[test]
fn the_status_is_what_ci_asks_for() {
    let (old, new) = cases();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let original = fs::read_to_string(&old).expect("it is there");
    let changed = |name: &str, from: &str, to: &str| {
        assert!(original.contains(from), "{from}");
        let path = folder.path().join(name);
        fs::write(&path, original.replace(from, to)).expect("a writable folder");
        path
    };
    let documented = changed("documented.toml", "Something was sold.", "Something has been sold.");
    let wider = changed("wider.toml", "name = \"price\", type = \"u32\"", "name = \"price\", type = \"u64\"");
    let hexadecimal = changed(
        "hexadecimal.toml",
        "name = \"price\", type = \"u32\"",
        "name = \"price\", type = \"u32 hex\"",
    );
    for (path, fail_on, status) in [
        (&documented, "any", 0),
        (&wider, "any", 3),
        (&wider, "caller", 3),
        (&wider, "reader", 0),
        (&hexadecimal, "reader", 3),
        (&hexadecimal, "caller", 0),
        (&hexadecimal, "version", 3),
        (&new, "version", 0),
        (&new, "never", 0),
    ] {
        let said = said(["diff", text(&old), text(path), "--fail-on", fail_on]);
        assert_eq!(said.status, status, "{} --fail-on {fail_on}\n{}", path.display(), said.out);
    }
}

#[test]
fn json_says_the_same() {
    let (old, new) = cases();
    let table = said(["diff", text(&old), text(&new)]);
    let json = said(["diff", text(&old), text(&new), "--format", "json"]);
    assert_eq!(json.status, 3);
    let difference: serde_json::Value = serde_json::from_str(&json.out).expect("it is JSON");
    let changes = difference["changes"].as_array().expect("a list");
    assert_eq!(changes.len(), table.out.lines().count() - 3, "a header, a sum and the version");
    for (line, change) in table.out.lines().skip(1).zip(changes) {
        assert!(line.ends_with(change["change"].as_str().expect("a text")), "{line}");
        assert_eq!(line.starts_with("reader"), change["reader"] == true, "{line}");
        assert_eq!(line[..14].contains("caller"), change["caller"] == true, "{line}");
    }
    assert_eq!((&difference["old_version"], &difference["new_version"]), (&1.into(), &2.into()));
}
