//! How results are written: formats, filters, colours, widths and pipes.

use std::fs::File;
use std::io::Read;
use std::process::Stdio;
use std::time::{Duration, UNIX_EPOCH};

use super::handwritten::{BEGIN, requests};
use super::run::{json, ltt_top, said, small_trace, streams};

#[test]
fn broken_pipe_is_not_an_error() {
    let mut command = ltt_top(["top", "--by", "u64", "-n", "0", "--event", "every_type"]);
    let mut process =
        command.arg(small_trace()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
    // Closed before anything was written, as `| head -0` does.
    drop(process.stdout.take());
    let mut errors = String::new();
    process.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    assert_eq!((process.wait().unwrap().code(), &*errors), (Some(0), ""));
}

#[test]
fn colours_are_shown_only_where_they_are_wanted() {
    let has_colours = |arguments: &[&str]| {
        let said = said(ltt_top(arguments).arg(small_trace()));
        assert_eq!(said.status, 0, "{said:?}");
        said.out.contains('\x1b')
    };
    assert!(!has_colours(&["top"]), "no terminal");
    assert!(has_colours(&["top", "--color", "always"]));
    assert!(!has_colours(&["top", "--color", "never"]));
}

#[test]
fn tables_fit_the_width() {
    for command in ["top", "slow", "outliers", "info"] {
        for width in [40, 60, 80, 132] {
            let mut command = ltt_top([command]);
            let said = said(command.arg(small_trace()).env("COLUMNS", width.to_string()));
            let is_table = |line: &&str| !line.contains('/');
            let widest = said.out.lines().filter(is_table).map(|line| line.chars().count()).max();
            assert!(widest <= Some(width), "{width}:\n{}", said.out);
        }
    }
}

#[test]
fn a_unit_that_nobody_said_is_named_as_a_guess() {
    let guess = "the unit is unknown and assumed to be ns";
    let bare = said(ltt_top(["top", "--event", "work"]).arg(small_trace()));
    assert!(bare.out.contains(guess), "{bare:?}");
    let given = ["top", "--event", "work", "--duration", "duration", "--unit", "ms"];
    let given_said = said(ltt_top(given).arg(small_trace()));
    assert!(!given_said.out.contains(guess), "{given_said:?}");
    assert_eq!(json(ltt_top(given).arg(small_trace()))["groups"][0]["max_us"], 999_000);
}

#[test]
fn a_catalog_says_what_events_mean() {
    let folder = tempfile::tempdir().unwrap();
    let catalog = folder.path().join("tracee.toml");
    let text = r#"
        [catalog]
        name = "tracee"
        version = 1
        doc = "What the tests trace."

        [provider.tracee]
        doc = "A test's program."

        [provider.tracee.event.work]
        doc = "Work."
        duration = "duration"
        fields = [{ name = "duration", type = "u64", unit = "us", doc = "How long it took." }]
    "#;
    std::fs::write(&catalog, text).unwrap();
    let found = json(ltt_top(["top", "--event", "work", "--catalog"]).arg(&catalog).arg(small_trace()));
    assert_eq!(found["groups"][0]["max_us"], 999);
    assert_eq!(found["groups"][0]["unit_is_guess"], false);
}

#[test]
fn filters_choose_events_by_name_field_time_process_and_cpu() {
    let count = |arguments: &[&str]| {
        let found = json(ltt_top(["top", "--by", "event"].iter().chain(arguments)).arg(small_trace()));
        found["groups"].as_array().unwrap().iter().map(|group| group["count"].as_u64().unwrap()).sum::<u64>()
    };
    assert_eq!(count(&[]), 1040);
    assert_eq!(count(&["--event", "work"]), 1000);
    assert_eq!(count(&["--event", "tracee:e*"]), 40);
    assert_eq!(count(&["--event", "work", "--event", "every_type"]), 1040);
    assert_eq!(count(&["--where", "duration>=990"]), 10);
    assert_eq!(count(&["--where", "duration<1us", "--where", "duration!=5"]), 999);
    assert_eq!(count(&["--where", "text=two words"]), 8);
    assert_eq!(count(&["--where", "text~t*"]), 16);
    assert_eq!(count(&["--where", "colour=RED"]), 2);
    assert_eq!(count(&["--where", "f64>9"]), 3);
    let first_half = count(&["--cpu", "0"]) + count(&["--cpu", "1"]);
    assert!(first_half <= 1040);
    assert_eq!(count(&["--pid", "1"]), 0);
    assert_eq!(count(&["--since", "+0s", "--until", "-0s"]), 1040);
    assert_eq!(count(&["--since", "+1h"]), 0);
    assert_eq!(count(&["--until", "1999-12-31T23:59:59Z"]), 0);
}

#[test]
fn untrusted_text_reaches_neither_terminal_nor_table_as_it_is() {
    let said = said(ltt_top(["top", "--by", "text"]).arg(small_trace()));
    assert!(said.out.contains("tabs\\tand \"quotes\""), "{said:?}");
    assert!(said.out.contains("\\xff\\xfe"), "{said:?}");
}

#[test]
fn csv_has_the_columns_of_json() {
    let said = said(ltt_top(["top", "--by", "text", "--format", "csv"]).arg(small_trace()));
    let heading = said.out.lines().next().unwrap();
    assert!(heading.starts_with("event,key.text,count,implausible,total_us,mean_us,p50_us,"), "{heading}");
    assert_eq!(said.out.lines().count(), 6);
}

#[test]
fn info_says_where_events_came_from() {
    let found = json(ltt_top(["info"]).arg(small_trace()));
    assert_eq!(found["events_by_name"]["tracee:work"], 1000);
    assert_eq!(found["events_by_name"]["tracee:every_type"], 40);
    assert_eq!(found["processes"].as_array().unwrap().len(), 1);
    assert_eq!(found["processes"][0]["events"], 1040);
    assert!(found["traces"][0]["environment"]["hostname"].is_string());
}

#[test]
fn info_warns_of_events_outside_of_the_times_of_their_session() {
    // The events are at 22:13:20 and a few microseconds later.
    for (created, written, before, after) in [
        ("20231114T221319+0000", 60, 0, 0),
        ("20231114T231320+0100", 0, 0, 0),
        ("20231114T221322+0000", 60, 0, 0),
        ("20231114T231320+0000", 3_700, 3_600, 0),
        ("20231114T231320+0000", 0, 3_600, 0),
        ("20231114T201320+0000", -3_600, 0, 3_600),
        ("20231114T211319+0000", -59, 0, 0),
        ("yesterday", -3_600, 0, 0),
    ] {
        let trace = requests("alpha", &[("get", 10), ("set", 30)]).created(created).write();
        let begin = BEGIN as i64 / 1_000_000_000;
        let written = UNIX_EPOCH + Duration::from_secs((begin + written) as u64);
        for file in streams(trace.path()).iter().chain([&trace.path().join("metadata")]) {
            File::options().append(true).open(file).unwrap().set_modified(written).unwrap();
        }
        let seconds = |ns: &serde_json::Value| ns.as_u64().map_or(0, |ns| (ns + 500_000_000) / 1_000_000_000);
        let found = json(ltt_top(["info"]).arg(trace.path()));
        let outside = &found["traces"][0]["outside"];
        assert_eq!([&outside["before_ns"], &outside["after_ns"]].map(seconds), [before, after], "{created}");
        let said = said(ltt_top(["info"]).arg(trace.path()));
        assert_eq!(said.out.contains("has events up to 1h00m "), before + after > 0, "{said:?}");
        assert_eq!(said.out.contains("LTTNG_UST_CLOCK_PLUGIN"), before + after > 0, "{said:?}");
        assert_eq!(said.status, 0, "{said:?}");
    }
}

#[test]
fn histograms_count_every_event() {
    let found = json(ltt_top(["hist", "--event", "work"]).arg(small_trace()));
    let buckets = found["groups"][0]["buckets"].as_array().unwrap();
    assert_eq!(buckets.iter().map(|bucket| bucket["count"].as_u64().unwrap()).sum::<u64>(), 1000);
    let found = json(ltt_top(["hist", "--event", "work", "--over-time"]).arg(small_trace()));
    let columns = found["groups"][0]["counts"].as_array().unwrap();
    let cells = columns.iter().flat_map(|column| column.as_array().unwrap());
    assert_eq!(cells.map(|cell| cell.as_u64().unwrap()).sum::<u64>(), 1000);
}

#[test]
fn markdown_has_the_tables_in_full_and_no_markup_of_the_trace() {
    let trace = requests("alpha", &[("get", 10), ("<b>|`x`", 7)]).write();
    for (command, row) in [
        (
            &["top", "--by", "name"][..],
            r"| 10µs | 1000% | 1 | 1M | 10µs | 10µs | 10µs | 10µs | 10µs | 10µs |",
        ),
        (&["slow"], r"| name=\<b\>\|\`x\` |"),
        (&["info"], "| 2 | app:request |"),
        (&["hist", "--by", "event"], "```text\napp:request  2 events, p50 7µs, p99 10µs, max 10µs\n"),
    ] {
        let said =
            said(ltt_top(command).args(["--format", "markdown"]).arg(trace.path()).env("COLUMNS", "40"));
        assert_eq!(said.status, 0, "{said:?}");
        assert!(said.out.contains(row), "{}", said.out);
    }
    let live = said(ltt_top(["events", "--format", "markdown"]).arg(trace.path()));
    assert_eq!((live.status, live.err.lines().count()), (2, 1), "{live:?}");
}
