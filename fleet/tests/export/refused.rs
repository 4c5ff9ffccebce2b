//! What cannot be exported: one line that says what, where and what to do, and nothing is written.

use std::process::Command;

use lttng_testing::CommandInTime as _;

use crate::handwritten::requests;
use crate::run::{files, said};

#[test]
fn what_cannot_be_exported_is_refused_in_one_line() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name);
    requests("alpha", &[("get", 10)]).write_to(&path("t"));
    std::fs::create_dir_all(path("damaged")).expect("it can be created");
    std::fs::create_dir_all(path("empty")).expect("it can be created");
    std::fs::write(path("damaged/metadata"), "not metadata").expect("it can be written");
    std::fs::write(path("file"), "precious").expect("it can be written");
    let bucket = match cfg!(feature = "object-storage") {
        true => "s3://: name a bucket",
        false => {
            "s3://: this program was built without object storage: build it with --features object-storage"
        }
    };
    let cases: [(&[&str], i32, &str); 17] = [
        (&[], 2, "missing --output <DIR>, <TRACE>..."),
        (
            &["t", "--lnger-than", "1s"],
            2,
            "'--lnger-than'; did you mean `--longer-than`? (see ltt-parquet --help)",
        ),
        (&["t"], 2, "--output"),
        (&["t", "--output", "x", "--list"], 2, "cannot be used with"),
        (&["t", "--output", "x", "--longer-than", "soon"], 2, "write a duration"),
        (&["t", "--output", "x", "--unit", "us"], 2, "--duration"),
        (&["t", "--output", "x", "--catalog", "gone.toml"], 1, "gone.toml"),
        (&["gone", "--output", "x"], 1, "gone"),
        (&["empty", "--output", "x"], 1, "empty"),
        (&["damaged", "--output", "x"], 1, "damaged/metadata"),
        (&["t", "--output", "file"], 1, "file: it is not a folder"),
        (&["t", "--output", "/proc/x"], 1, "/proc/x: cannot create it"),
        (&["t", "--output", "t/x"], 1, "t/x: it is within the trace"),
        (&["t", "--output", "s3://"], 1, bucket),
        (&["t", "--output", "ftp://host/tables"], 1, "ftp://host/tables: ftp:// is not supported"),
        (&["prune", "--keep", "soon", "x"], 2, "write a duration such as 30d"),
        (&["prune", "--keep", "30d", "empty"], 1, "empty: no tables of ltt-parquet here"),
    ];
    for (arguments, status, because) in cases {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ltt-parquet"));
        let (found, said) =
            said(command.args(arguments).current_dir(folder.path()).env_remove("LTT_TOP_CATALOG"));
        assert_eq!((found, said.lines().count()), (status, 1), "{arguments:?}: {said}");
        assert!(said.starts_with("ltt-parquet: error: ") && said.contains(because), "{arguments:?}: {said}");
        assert!(files(&path("x"), "events").is_empty(), "{arguments:?}");
    }
    let mut list = Command::new(env!("CARGO_BIN_EXE_ltt-parquet"));
    list.args(["--list", "t"]).current_dir(folder.path());
    assert!(list.succeed().starts_with("{\"host\":\"alpha\""));
}

#[test]
fn help_says_what_it_is_and_nothing_of_packaging() {
    let help = Command::new(env!("CARGO_BIN_EXE_ltt-parquet")).arg("-h").succeed();
    assert!(help.starts_with("Exports LTTng traces to Parquet") && !help.contains("completions"), "{help}");
}
