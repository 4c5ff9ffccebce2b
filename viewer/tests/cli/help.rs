//! What `--help` says, as files to read and review. `OVERWRITE=1 cargo test` rewrites them.

use std::collections::HashSet;
use std::fmt::Write;
use std::path::Path;

use lttng_testing::assert_golden;

use super::run::{ltt_top, said};

/// The commands, each after those whose options it shares.
const COMMANDS: [&str; 17] = [
    "",
    "report",
    "incidents",
    "top",
    "slow",
    "outliers",
    "hist",
    "info",
    "events",
    "compare",
    "html",
    "export",
    "live",
    "record",
    "list",
    "completions",
    "man",
];

#[test]
fn help_is_as_reviewed() {
    let mut shown = HashSet::new();
    let mut all = String::new();
    for command in COMMANDS {
        let said = said(&mut ltt_top([command, "--help"].iter().filter(|argument| !argument.is_empty())));
        assert_eq!((said.status, &*said.err), (0, ""));
        assert!(said.out.lines().all(|line| line.chars().count() <= 100), "{command}: a line is too long");
        writeln!(all, "==== ltt-top {command}").unwrap();
        for entry in entries(&said.out) {
            let first = entry.lines().next().unwrap_or_default();
            let is_option = first.trim_start().starts_with('-');
            match is_option && !shown.insert(entry.to_owned()) {
                true => writeln!(all, "{first} (as above)").unwrap(),
                false => all.push_str(entry),
            }
        }
    }
    assert_golden(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/help.txt"), &all);
}

/// A help text, cut before each option, heading and paragraph.
fn entries(help: &str) -> Vec<&str> {
    let is_begin = |line: &str| !line.starts_with("        ") && !line.trim().is_empty();
    let mut cuts: Vec<usize> = Vec::new();
    let mut at = 0;
    for line in help.split_inclusive('\n') {
        if is_begin(line) {
            cuts.push(at);
        }
        at += line.len();
    }
    let ends = cuts.iter().skip(1).copied().chain([help.len()]);
    cuts.iter().zip(ends).map(|(&begin, end)| &help[begin..end]).collect()
}

#[test]
fn the_short_help_fits_a_screen() {
    let said = said(&mut ltt_top(["-h"]));
    assert_eq!(said.status, 0);
    assert!(said.out.lines().count() <= 24, "{}", said.out);
}
