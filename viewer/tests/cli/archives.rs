//! Traces in archives.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::run::{json, ltt_top, said, small_trace};

/// A copy of the small trace as an archive, made by `tar` with these options.
fn archive(folder: &Path, name: &str, options: &[&str]) -> PathBuf {
    let path = folder.join(name);
    let tar = Command::new("tar")
        .args(options)
        .arg("-cf")
        .arg(&path)
        .arg("-C")
        .arg(small_trace())
        .arg(".")
        .status();
    assert!(tar.expect("tar runs").success());
    path
}

#[test]
#[ignore = "make check: xz and zstd"]
fn a_trace_in_an_archive_is_read_as_it_is_in_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let expected = json(ltt_top(["top"]).arg(small_trace()));
    let archives: [(&str, &[&str]); 4] =
        [("t.tar", &[]), ("t.tar.gz", &["-z"]), ("t.tar.xz", &["-J"]), ("t.tar.zst", &["--zstd"])];
    for (name, options) in archives {
        let found = json(ltt_top(["top"]).arg(archive(folder.path(), name, options)));
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn an_archive_that_is_cut_off_or_none_gets_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let whole = fs::read(archive(folder.path(), "t.tar.gz", &["-z"])).unwrap();
    for length in [3, 20, whole.len() / 2, whole.len() - 1] {
        let cut = folder.path().join("cut.tar.gz");
        fs::write(&cut, &whole[..length]).unwrap();
        let said = said(ltt_top(["info"]).arg(&cut));
        assert!([1, 3].contains(&said.status), "{length} bytes: {said:?}");
        assert!(said.err.lines().count() <= 1, "{length} bytes: {said:?}");
        assert!(
            said.out.contains("cut.tar.gz") || said.err.contains("cut.tar.gz"),
            "{length} bytes: {said:?}"
        );
    }
    let other = folder.path().join("notes.txt");
    fs::write(&other, "nothing to see").unwrap();
    let said = said(ltt_top(["info"]).arg(&other));
    assert_eq!((said.status, said.err.lines().count()), (1, 1), "{said:?}");
    assert!(said.err.contains("is neither a folder with a trace nor a .tar"), "{said:?}");
}
