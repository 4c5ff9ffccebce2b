//! Wrong command lines: one line, status 2.

use super::run::said;

#[test]
fn wrong_command_lines_are_refused_in_one_line() {
    for arguments in [
        &[][..],
        &["imprt", "a.d"],
        &["import"],
        &["import", "a.d", "--type", "Oid"],
        &["import", "a.d", "--type", "Oid=blob"],
        &["check"],
        &["check", "a.toml", "--format", "yaml"],
        &["diff", "a.toml"],
        &["diff", "a.toml", "b.toml", "--fail-on", "sundays"],
        &["doc"],
        &["c", "a.toml"],
        &["list"],
        &["completions", "cmd"],
    ] {
        let said = said(arguments);
        assert_eq!((said.status, &*said.out), (2, ""), "{arguments:?}");
        assert_eq!(said.err.lines().count(), 1, "{arguments:?}: {}", said.err);
        assert!(said.err.starts_with("lttng-catalog: error: "), "{}", said.err);
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
fn errors_that_nobody_reads_are_no_panic() {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_lttng-catalog"));
    let status = command.args(["check", "missing.toml"]).stderr(writer).status().expect("it runs");
    assert_eq!(status.code(), Some(1));
}
