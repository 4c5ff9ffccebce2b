//! An exported timeline in a viewer that others wrote: Speedscope's page, which npm has.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};

use super::html::chromium::{Chromium, from_npm};
use super::run::{ltt_top, said};
use super::shared_trace::SharedTrace;

/// The threads of `window.trace`, each with its frames by their total time, the longest first: what Speedscope should show.
/// It calls a frame by its name and its arguments.
const EXPECTED: &str = "(() => {
    const named = (kind, pid, tid) => trace.traceEvents.find((event) => event.ph === 'M' && event.name === kind &&
        event.pid === pid && (tid === null || event.tid === tid)).args.name;
    const threads = new Map();
    for (const { ph, pid, tid, name, args, dur } of trace.traceEvents) {
        if (ph !== 'X') continue;
        const thread = `${named('process_name', pid, null)} (pid ${pid}), ${named('thread_name', pid, tid)} (tid ${tid})`;
        if (!threads.has(thread)) threads.set(thread, new Map());
        const frames = threads.get(thread), frame = args ? `${name} ${JSON.stringify(args)}` : name;
        frames.set(frame, (frames.get(frame) ?? 0) + dur);
    }
    return Object.fromEntries([...threads].map(([thread, frames]) =>
        [thread, [...frames].sort((one, other) => other[1] - one[1])]));
})()";

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
    let exported =
        said(ltt_top(["export", "--where", "duration>=100us", "--output", "-"]).arg(shared.folder()));
    assert_eq!(exported.status, 0, "{}", exported.err);
    // What Speedscope's own command line does, but for the trace, which the test wants to see, too.
    let folder = tempfile::tempdir().unwrap();
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
    assert!(
        expected.len() >= 3 && expected.keys().any(|thread| thread.starts_with("Incidents ")),
        "{:?}",
        expected.keys()
    );
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
