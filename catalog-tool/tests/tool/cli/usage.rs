//! Wrong command lines: one line, status 2.

use std::process::{Command, Stdio};

use super::run::said;

#[test]
fn wrong_command_lines_are_refused_in_one_line() {
    for (arguments, reason) in [
        (&[][..], "missing command"),
        (&["imprt", "a.d"], "unknown command 'imprt'; did you mean `import`?"),
        (&["import"], "missing <FILE>..."),
        (&["import", "a.d", "--tpye", "Oid"], "unexpected argument '--tpye'; did you mean `--type`?"),
        (
            &["import", "a.d", "--type", "Oid"],
            "invalid value 'Oid' for '--type <NAME=TYPE>': write NAME=TYPE",
        ),
        (&["import", "a.d", "--type", "Oid=blob"], "invalid value 'Oid=blob'"),
        (&["check", "a.toml", "--format", "yaml"], "possible values: "),
        (&["diff", "a.toml", "b.toml", "--fail-on", "sundays"], "invalid value 'sundays'"),
        (&["c", "a.toml"], "missing --out <DIR>"),
        (&["completions", "cmd"], "invalid value 'cmd' for '<SHELL>' [possible values: bash"),
    ] {
        let said = said(arguments);
        assert_eq!((said.status, &*said.out), (2, ""), "{arguments:?}");
        assert_eq!(said.err.lines().count(), 1, "{arguments:?}: {}", said.err);
        assert!(said.err.starts_with("lttng-catalog: error: "), "{}", said.err);
        assert!(said.err.contains(reason), "{}", said.err);
        assert!(said.err.ends_with("(see lttng-catalog --help)\n"), "{}", said.err);
    }
}

#[test]
fn files_that_are_missing_are_named() {
    for arguments in [
        &["import", "missing.d"][..],
        &["check", "missing.toml"],
        &["doc", "missing.toml"],
        &["diff", "missing.toml", "missing.toml"],
        &["c", "missing.toml", "--out", "nowhere"],
        &["list", "missing"],
        &["list", "missing", "--catalog", "missing.toml"],
    ] {
        let said = said(arguments);
        assert_eq!((said.status, &*said.out), (1, ""), "{arguments:?}");
        assert!(said.err.contains("missing") && said.err.contains("No such file"), "{}", said.err);
        assert_eq!(said.err.lines().count(), 1, "{arguments:?}: {}", said.err);
    }
}

#[test]
fn a_reader_that_has_gone_is_no_error() {
    let script = format!(
        "{} completions bash | head -c 1; exit ${{PIPESTATUS[0]}}",
        env!("CARGO_BIN_EXE_lttng-catalog")
    );
    let output = std::process::Command::new("bash").arg("-c").arg(script).output().expect("bash runs");
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}

#[test]
fn errors_that_cannot_be_written_do_not_change_the_status() {
    for (arguments, status) in [(&["check", "missing.toml"][..], 1), (&["imprt"], 2)] {
        let (reader, closed) = std::io::pipe().unwrap();
        drop(reader);
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        for errors in [Stdio::from(full), closed.into()] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_lttng-catalog"));
            assert_eq!(command.args(arguments).stderr(errors).status().unwrap().code(), Some(status));
        }
    }
}
