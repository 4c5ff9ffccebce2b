//! What `--help` says, as files to read and review. `OVERWRITE=1 cargo test` rewrites them.

use lttng_testing::assert_golden;

use super::run::{case, said};

#[test]
fn help_is_as_reviewed() {
    for name in [
        "lttng-catalog",
        "import",
        "check",
        "doc",
        "diff",
        "c",
        "d",
        "stp",
        "bpftrace",
        "list",
        "completions",
        "man",
    ] {
        let command = (name != "lttng-catalog").then_some(name);
        let said = said(command.into_iter().chain(["--help"]));
        assert_eq!((said.status, &*said.err), (0, ""));
        assert_golden(case(&format!("cli/help/{name}.txt")), &said.out);
        assert!(said.out.lines().all(|line| line.chars().count() <= 100), "{name}: a line is too long");
        let examples = ["completions"].contains(&name) || said.out.contains("lttng-catalog ");
        assert!(examples, "{name}: the help has no example");
    }
}

#[test]
fn the_manual_has_the_options_that_there_are() {
    let manual = std::fs::read_to_string(case("../../README.md")).expect("it is there");
    for name in ["import", "check", "doc", "diff", "c", "d", "stp", "bpftrace", "list"] {
        let start = format!("```text\nlttng-catalog {name} ");
        let synopsis = manual.split(&start).nth(1).and_then(|rest| rest.split("```").next());
        let synopsis = synopsis.unwrap_or_else(|| panic!("{name} has no synopsis"));
        let help = said([name, "--help"]).out;
        let options = |text: &str| {
            let words = text.split(|letter: char| !letter.is_ascii_lowercase() && letter != '-');
            let options = words.filter(|word| word.starts_with("--") && *word != "--help");
            options.map(str::to_owned).collect::<std::collections::BTreeSet<_>>()
        };
        // What follows the options is prose, which may name those of another command.
        let help = help.split("Options:").nth(1).and_then(|rest| rest.split("Print help").next());
        assert_eq!(options(synopsis), options(help.expect("it has options")), "{name}");
    }
}

#[test]
fn the_short_help_fits_a_screen() {
    let said = said(["-h"]);
    assert_eq!(said.status, 0);
    assert!(said.out.lines().count() <= 24, "{}", said.out);
}

#[test]
fn completions_are_written_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let said = said(["completions", shell]);
        assert_eq!(said.status, 0, "{shell}");
        assert!(said.out.contains("join-pairs"), "{shell}");
    }
}
