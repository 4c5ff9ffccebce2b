//! Command lines that are wrong, and what is said about them: one line, status 2.

use super::run::{ltt_top, said, small_trace};

#[track_caller]
fn refused(arguments: &[&str], because: &str) {
    let said = said(ltt_top(arguments).arg(small_trace()));
    assert_eq!((said.status, &*said.out), (2, ""), "{said:?}");
    assert_eq!(said.err.lines().count(), 1, "{said:?}");
    assert!(said.err.starts_with("ltt-top: error: "), "{said:?}");
    assert!(said.err.contains(because), "{said:?}");
}

#[test]
fn an_unknown_field_is_refused_with_the_one_that_was_meant() {
    refused(&["top", "--by", "txet"], "no event has a field `txet`; did you mean `text`?");
    refused(&["slow", "--where", "cpu_di=0"], "no event has a field `cpu_di`; did you mean `cpu_id`?");
    refused(&["outliers", "--by", "something_else"], "no event has a field `something_else`");
}

#[test]
fn a_comparison_that_makes_no_sense_is_refused() {
    refused(&["top", "--where", "text>5"], "text is a text");
    refused(&["top", "--where", "u8=many"], "u8 is a number");
    refused(&["top", "--where", "numbers=1"], "cannot be compared");
    refused(&["top", "--where", "u8"], "write FIELD=VALUE");
}

#[test]
fn a_wrong_option_is_refused_in_one_line() {
    refused(&["top", "--frobnicate"], "unexpected argument '--frobnicate'");
    refused(&["top", "--evnet", "x"], "unexpected argument '--evnet'; did you mean `--event`?");
    refused(&["top", "--sort", "speed"], "invalid value 'speed'");
    refused(&["top", "--color", "nevr"], "possible values: auto, always, never]; did you mean `never`?");
    refused(&["top", "--sort", "--all"], "'--sort <FIGURE>' needs a value");
    refused(&["export"], "missing --output <FILE>");
    refused(&["top", "--since", "yesterday"], "is not a time");
    refused(&["top", "--unit", "us"], "--duration");
    refused(&["top", "--duration", "u8", "--unit", "days"], "not a unit of time");
    refused(&["outliers", "--sensitivity", "2"], "low, normal, high");
    refused(
        &["compare", "--error-rate", "2", "a", "b"],
        "'--error-rate <P>': write a probability from 1e-15 to 0.1",
    );
    refused(&["top", "--since", "+2s", "--until", "+1s"], "--since is later than --until");
    refused(&["top", "--threads", "0"], "0 is not in 1..");
}

#[test]
fn without_any_trace_a_folder_is_asked_for() {
    let home = tempfile::tempdir().unwrap();
    let said = said(ltt_top([""; 0]).env("LTTNG_HOME", home.path()));
    assert_eq!(said.status, 2);
    let folder = home.path().join("lttng-traces");
    let message = format!("no trace found in {}: name a folder that contains one", folder.display());
    assert_eq!(said.err, format!("ltt-top: error: {message} (see ltt-top --help)\n"));
}

#[test]
fn a_catalog_that_cannot_be_read_is_named() {
    let said = said(ltt_top(["top", "--catalog", "/nowhere/app.toml"]).arg(small_trace()));
    assert_eq!(said.status, 1);
    assert!(said.err.contains("/nowhere/app.toml"), "{said:?}");
    assert_eq!(said.err.lines().count(), 1, "{said:?}");
}
