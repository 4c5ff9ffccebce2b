//! What `--help` says, as files to read and review. `OVERWRITE=1 cargo test` rewrites them.

use std::path::Path;

use lttng_testing::assert_golden;

use crate::run::{ltt_top, said};

#[test]
fn help_is_as_reviewed() {
    for name in [
        "ltt-top",
        "report",
        "incidents",
        "top",
        "slow",
        "outliers",
        "hist",
        "info",
        "events",
        "live",
        "record",
        "list",
        "completions",
        "man",
    ] {
        let command = (name != "ltt-top").then_some(name);
        let said = said(&mut ltt_top(command.into_iter().chain(["--help"])));
        assert_eq!((said.status, &*said.err), (0, ""));
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/cli/help/{name}.txt"));
        assert_golden(path, &said.out);
        assert!(said.out.lines().all(|line| line.chars().count() <= 100), "{name}: a line is too long");
    }
}

#[test]
fn the_short_help_fits_a_screen() {
    let said = said(&mut ltt_top(["-h"]));
    assert_eq!(said.status, 0);
    assert!(said.out.lines().count() <= 24, "{}", said.out);
}

#[test]
fn completions_are_written_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let said = said(&mut ltt_top(["completions", shell]));
        assert_eq!(said.status, 0, "{shell}");
        assert!(said.out.contains("outliers"), "{shell}");
    }
}
