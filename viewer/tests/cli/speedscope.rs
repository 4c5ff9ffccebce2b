//! `ltt-top export --to speedscope`: held against `ltt-top top`, against Speedscope's schema, and in its page, which npm has.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;
use std::time::Duration;

use lttng_testing::{CommandInTime as _, python};
use serde_json::{Value, json};

use super::export::{interleaved, ns};
use super::html::chromium::{Chromium, from_npm};
use super::run::{json, ltt_top, said};
use super::shared_trace::SharedTrace;

/// Of each profile, the number and the total of the frames of each name, by what opens and closes.
fn totals(file: &Value) -> BTreeMap<String, BTreeMap<String, (u64, i64)>> {
    let frames = file["shared"]["frames"].as_array().unwrap();
    let of_profile = |profile: &Value| {
        let (mut open, mut last) = (Vec::new(), profile["startValue"].as_i64().unwrap());
        let mut totals: BTreeMap<String, (u64, i64)> = BTreeMap::new();
        for event in profile["events"].as_array().unwrap() {
            let (frame, at) = (event["frame"].as_u64().unwrap(), event["at"].as_i64().unwrap());
            assert!(at >= last, "times ascend: {event}");
            last = at;
            if event["type"] == "O" {
                open.push((frame, at));
                continue;
            }
            let (opened, begin) = open.pop().expect("something is open");
            assert_eq!(opened, frame, "what was opened last is closed first");
            let name = frames[frame as usize]["name"].as_str().unwrap().to_owned();
            let total = totals.entry(name).or_default();
            *total = (total.0 + 1, total.1 + at - begin);
        }
        assert!(open.is_empty() && profile["endValue"].as_i64() == Some(last));
        (profile["name"].as_str().unwrap().to_owned(), totals)
    };
    file["profiles"].as_array().unwrap().iter().map(of_profile).collect()
}

#[test]
fn a_frame_is_a_name_and_sums_up_to_what_top_says() {
    let shared = SharedTrace::unpack();
    let window = ["--since", "+8s", "--until", "+8300ms"];
    let export = ["export", "--to", "speedscope", "--output", "-"];
    let exported = said(ltt_top(export).args(window).arg(shared.folder()));
    assert_eq!(exported.status, 0, "{}", exported.err);
    let file: Value = serde_json::from_str(&exported.out).unwrap();
    let mut found: BTreeMap<String, (u64, i64)> = BTreeMap::new();
    for (_, frames) in totals(&file).into_iter().filter(|(profile, _)| profile != "Incidents") {
        for (name, (count, total)) in frames {
            let sum = found.entry(name).or_default();
            *sum = (sum.0 + count, sum.1 + total);
        }
    }
    let top = json(ltt_top(["top"]).args(window).arg(shared.folder()));
    let counted = top["groups"].as_array().unwrap().iter().filter(|group| !group["total_us"].is_null());
    let counted: BTreeMap<String, (u64, i64)> = counted
        .map(|group| {
            let event = group["event"].as_str().unwrap().rsplit(':').next().unwrap();
            let key = group["key"].as_object().unwrap().values();
            let name = key.fold(event.to_owned(), |name, key| format!("{name} {}", key.as_str().unwrap()));
            let [count, implausible] = ["count", "implausible"].map(|figure| group[figure].as_u64().unwrap());
            (name, (count - implausible, ns(&group["total_us"])))
        })
        .collect();
    assert!(counted.len() > 5, "{counted:?}");
    for (name, (count, total)) in &found {
        let (of_top, total_of_top) = counted[name];
        // What is clipped is at most 100 µs each.
        let clipped = 0..=100_000 * of_top as i64;
        assert!(*count == of_top && clipped.contains(&(total_of_top - total)), "{name}");
    }
}

#[test]
fn requests_of_an_async_program_are_one_profile() {
    let export = ["export", "--to", "speedscope", "--output", "-"];
    let exported = said(ltt_top(export).arg(interleaved().path()));
    let profiles = totals(&serde_json::from_str(&exported.out).unwrap());
    let requests = profiles.iter().find(|(name, _)| name.ends_with("requests one after the other")).unwrap();
    let expected = [("query".to_owned(), (3, 19_200_000)), ("request".to_owned(), (2, 18_500_000))];
    assert_eq!(*requests.1, BTreeMap::from(expected));
}

/// The profiles of `window.trace`, each with its frames by their total time, the longest first: what Speedscope should show.
const EXPECTED: &str = "Object.fromEntries(trace.profiles.map((profile) => {
    const frames = new Map(), open = [];
    for (const { type, frame, at } of profile.events) {
        if (type === 'O') { open.push(at); continue; }
        const { name } = trace.shared.frames[frame], begin = open.pop();
        frames.set(name, (frames.get(name) ?? 0) + (at - begin) / 1000);
    }
    return [profile.name, [...frames].sort((one, other) => other[1] - one[1])];
}))";

/// The thread that is shown, such as `valkey-server (pid 1), main (tid 1) (1/2)`.
const TITLE: &str = "Array.from(document.querySelectorAll('span'), (span) => span.textContent)
    .find((text) => /. \\(\\d+\\/\\d+\\)$/.test(text))";

/// The rows of the table of frames: total and own time, and the name.
const ROWS: &str = "Array.from(document.querySelectorAll('tbody tr, tr'), (row) => Array.from(row.cells, (cell) => cell.textContent))
    .filter((cells) => cells.length === 3 && /^[\\d.]+.?s/.test(cells[0]))";

fn click(browser: &mut Chromium, text: &str) {
    browser.evaluate(&format!(
        "Array.from(document.querySelectorAll('div, td, th')).filter((one) => one.textContent.endsWith('{text}')).pop().click()"
    ));
}

/// A time as Speedscope writes it, such as `1.25ms (3%)`, in microseconds.
fn microseconds(text: &str) -> f64 {
    let text = text.split(' ').next().unwrap();
    let digits = text.trim_end_matches(|letter: char| letter.is_alphabetic());
    let unit = match &text[digits.len()..] {
        "ns" => 1e-3,
        "µs" => 1.0,
        "ms" => 1e3,
        "s" => 1e6,
        unit => panic!("{unit} in {text}"),
    };
    digits.parse::<f64>().unwrap() * unit
}

#[test]
#[ignore = "make check: needs Chromium"]
fn speedscope_shows_the_threads_and_their_longest_frames() {
    let Some(mut browser) = Chromium::start() else { return };
    let Some(package) = from_npm("speedscope@1") else { return };
    let shared = SharedTrace::unpack();
    let export = ["export", "--to", "speedscope", "--where", "duration>=100us", "--output", "-"];
    let exported = said(ltt_top(export).arg(shared.folder()));
    assert_eq!(exported.status, 0, "{}", exported.err);
    // What Speedscope's own command line does, but for the trace, which the test wants to see, too.
    let folder = tempfile::tempdir().unwrap();
    if let Some(python) = python(&["jsonschema"], Duration::from_secs(60)) {
        let file = folder.path().join("trace.json");
        fs::write(&file, &exported.out).unwrap();
        let check = "import json, jsonschema, sys; jsonschema.validate(*(json.load(open(file)) for file in sys.argv[1:]))";
        let schema = package.join("dist/release/file-format-schema.json");
        Command::new(python).args(["-c", check]).args([&file, &schema]).succeed();
    }
    let script = folder.path().join("trace.js");
    let text = json!(exported.out.trim());
    let load = "speedscope.loadFileFromBase64('trace.json', btoa(unescape(encodeURIComponent(text))))";
    fs::write(&script, format!("const text = {text}; window.trace = JSON.parse(text); {load}")).unwrap();
    browser.resize(1440, false);
    let page = package.join("dist/release/index.html");
    browser.open(&page, &format!("#localProfilePath={}", script.display()));
    browser.wait_for("the trace is read", &format!("Boolean({TITLE})"));
    let expected = browser.evaluate(EXPECTED);
    let expected = expected.as_object().unwrap();
    assert!(expected.len() >= 3 && expected.contains_key("Incidents"), "{:?}", expected.keys());
    click(&mut browser, "Sandwich");
    let mut shown = Vec::new();
    for number in 1..=expected.len() {
        let place = format!(" ({number}/{})", expected.len());
        browser
            .wait_for("the thread is shown", &format!("({TITLE})?.endsWith('{place}') && {ROWS}.length > 0"));
        if number == 1 {
            click(&mut browser, "Total");
        }
        let title = browser.evaluate(TITLE);
        let thread = title.as_str().unwrap().strip_suffix(&place).unwrap().to_owned();
        let frames = expected.get(&thread).unwrap_or_else(|| panic!("{thread}: {:?}", expected.keys()));
        browser.wait_for("the longest frame comes first", &format!("{ROWS}[0]?.[2] === {}", frames[0][0]));
        let rows = browser.evaluate(&format!("{ROWS}.slice(0, 3)"));
        for (row, frame) in rows.as_array().unwrap().iter().zip(frames.as_array().unwrap()) {
            let (total, longest) = (microseconds(row[0].as_str().unwrap()), frame[1].as_f64().unwrap());
            assert!((total - longest).abs() <= 0.01 * longest, "{thread}: {row} for {frame}");
        }
        shown.push(thread);
        browser.press("n", 78);
    }
    let shown: BTreeSet<String> = shown.into_iter().collect();
    assert_eq!(shown, expected.keys().cloned().collect());
    // It complains of what does not nest, or ends without a beginning.
    let warnings = browser.events.iter().filter(|event| {
        event["method"] == "Runtime.consoleAPICalled"
            && ["warning", "error"].iter().any(|kind| event["params"]["type"] == *kind)
    });
    assert_eq!(warnings.collect::<Vec<_>>(), [&Value::Null; 0]);
}
