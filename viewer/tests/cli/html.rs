//! `ltt-top html`: what the page holds, without a browser; in one, see `browser`.

mod browser;
pub mod chromium;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use super::handwritten::{BEGIN, Handwritten};
use super::run::{Said, json, ltt_top, said};
use super::shared_trace::SharedTrace;

/// A page and what the program said when it wrote it.
pub struct Page {
    folder: TempDir,
    said: Said,
}

impl Page {
    pub fn of(traces: &[&Path]) -> Page {
        Page::with(traces, &[])
    }

    fn with(traces: &[&Path], options: &[&str]) -> Page {
        let folder = tempfile::tempdir().unwrap();
        let said = said(
            ltt_top(["html", "--output"]).arg(folder.path().join("report.html")).args(options).args(traces),
        );
        Page { folder, said }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("report.html")
    }

    pub fn text(&self) -> String {
        assert!(matches!(self.said.status, 0 | 3), "{:?}", self.said);
        fs::read_to_string(self.path()).expect("it was written")
    }

    fn data(&self) -> Value {
        let text = self.text();
        serde_json::from_str(between(&text, "id=\"data\">", "</script>")).expect("it is JSON")
    }

    /// What the causes of incidents are called.
    pub fn causes(&self) -> Vec<String> {
        let label = |cause: &Value| cause["label"].as_str().unwrap().to_owned();
        self.data()["incidents"]["causes"].as_array().unwrap().iter().map(label).collect()
    }

    /// What the first incident is coloured by: the cause that it is charged the most with.
    pub fn main_cause(&self) -> String {
        let charges = self.data()["incidents"]["marks"][0][2].clone();
        let charges = charges.as_array().unwrap().chunks(2);
        let most =
            charges.max_by(|one, other| one[1].as_f64().unwrap().total_cmp(&other[1].as_f64().unwrap()));
        self.causes()[most.unwrap()[0].as_u64().unwrap() as usize].clone()
    }

    /// Checks that what incidents are charged with is what their causes have in all.
    pub fn charges_add_up(&self) {
        let incidents = &self.data()["incidents"];
        let causes = incidents["causes"].as_array().unwrap();
        let mut totals = vec![0.0; causes.len()];
        for mark in incidents["marks"].as_array().unwrap() {
            for pair in mark[2].as_array().unwrap().chunks(2) {
                totals[pair[0].as_u64().unwrap() as usize] += pair[1].as_f64().unwrap();
            }
        }
        for (cause, total) in causes.iter().zip(totals) {
            assert!((cause["total_us"].as_f64().unwrap() - total).abs() < 0.01, "{cause}: {total}");
        }
    }
}

fn between<'t>(text: &'t str, begin: &str, end: &str) -> &'t str {
    text.split_once(begin).and_then(|(_, rest)| rest.split_once(end)).expect("it has both").0
}

/// Names that end scripts, quote, reverse and paint.
const HOSTILE: &str = "</script><script>document.title='owned'</script><img src=x onerror=alert(1)>\"'`&amp;\u{202e}txt\u{1b}[31m";

/// A trace that says hostile things wherever a trace can.
fn hostile() -> TempDir {
    let mut trace = Handwritten::new("<b>\u{202e}host");
    let class =
        trace.class("app:<script>alert(2)</script>", "string _name; string _client; u64 _latency_us;");
    for number in 0..500_u64 {
        let latency = if number == 250 { 90_000 } else { 10 + number % 7 };
        trace.event(class, &[HOSTILE.as_bytes(), b"\0", HOSTILE.as_bytes(), b"\0", &latency.to_le_bytes()]);
    }
    trace.write()
}

#[test]
fn a_page_has_the_figures_of_top_and_needs_nothing_else() {
    let shared = SharedTrace::unpack();
    let page = Page::of(&[shared.folder()]);
    let text = page.text();
    assert!(text.len() < 1_000_000, "{} bytes", text.len());
    let data = page.data();
    let mut top = json(ltt_top(["top"]).arg(shared.folder()));
    ["kind", "version"].iter().for_each(|key| _ = top.as_object_mut().unwrap().shift_remove(*key));
    assert_eq!(data["top"], top);
    // The one word that browsers know a policy by.
    let outside = text.replace("http-equiv", "");
    let references = ["http", "src=", "@import", "url("].iter().filter(|known| outside.contains(**known));
    assert_eq!(references.collect::<Vec<_>>(), [&""; 0]);
    assert!(page.said.err.contains("wrote ") && page.said.out.is_empty(), "{:?}", page.said);
    page.charges_add_up();
}

#[test]
fn slices_add_up_to_all_of_the_time() {
    let shared = SharedTrace::unpack();
    let data = Page::of(&[shared.folder()]).data();
    let events = data["slices"]["events"].as_array().unwrap();
    let all: u64 = events.iter().filter_map(|slice| slice[0].as_u64()).sum();
    assert_eq!(data["top"]["trace"]["events"], all);
    for (group, sliced) in
        data["top"]["groups"].as_array().unwrap().iter().zip(data["slices"]["groups"].as_array().unwrap())
    {
        let slices = sliced["slices"].as_array().unwrap();
        let sum = |place: usize| slices.iter().map(|slice| slice[1][place].as_u64().unwrap()).sum::<u64>();
        assert_eq!(
            (sum(0), sum(1)),
            (group["count"].as_u64().unwrap(), group["implausible"].as_u64().unwrap())
        );
        if let Some(total) = group["total_us"].as_f64() {
            let unit = sliced["unit_ns"].as_f64().unwrap();
            assert!((sum(2) as f64 * unit / 1000.0 - total).abs() <= total * 1e-12, "{group}");
        }
    }
}

#[test]
fn a_page_allows_its_own_script_and_style_alone() {
    let trace = hostile();
    let text = Page::of(&[trace.path()]).text();
    let policy = between(&text, "Content-Security-Policy\" content=\"", "\">")
        .replace("&#x27;", "'")
        .replace("&#39;", "'")
        .replace("&#x2f;", "/");
    assert!(policy.starts_with("default-src 'none'; script-src 'sha256-"), "{policy}");
    for (source, part) in [
        ("script-src", between(&text, "<script>", "</script>")),
        ("style-src", between(&text, "<style>", "</style>")),
    ] {
        let allowed = between(&policy, &format!("{source} 'sha256-"), "'");
        assert_eq!(decoded(allowed), Sha256::digest(part).to_vec(), "{source}");
    }
    // What the trace says ends no element and begins none.
    let others = text.replace(between(&text, "<script>", "</script>"), "");
    assert_eq!((others.matches("<script").count(), others.matches("</script").count()), (2, 2));
    assert!(
        !others.contains("<img")
            && !others.contains("<b>")
            && !others.contains('\u{202e}')
            && !others.contains('\u{1b}')
    );
}

fn decoded(base64: &str) -> Vec<u8> {
    let digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bits = base64.trim_end_matches('=').chars().map(|digit| digits.find(digit).expect("it is base64"));
    let (mut bytes, mut number, mut known) = (Vec::new(), 0, 0);
    for digit in bits {
        (number, known) = (number << 6 | digit, known + 6);
        if known >= 8 {
            known -= 8;
            bytes.push((number >> known) as u8);
            number %= 1 << known;
        }
    }
    bytes
}

#[test]
fn many_groups_make_a_page_that_is_small_and_says_what_it_lacks() {
    let mut trace = Handwritten::new("alpha");
    let class = trace.class("app:request", "string _name; u64 _latency_us;");
    let mut random = fastrand::Rng::with_seed(7);
    for number in 0..40_000_u64 {
        let name = format!("a rather long name of a command, number {}\0", random.u32(..1500));
        let latency = 1_u64 << random.u32(0..24);
        trace.event_at(
            BEGIN + number * 50_000,
            class,
            &[name.as_bytes(), &(latency + random.u64(..latency)).to_le_bytes()],
        );
    }
    let trace = trace.write();
    let page = Page::with(&[trace.path()], &["--by", "name"]);
    let text = page.text();
    assert!(text.len() < 1_000_000, "{} bytes", text.len());
    assert!(text.contains("groups with less time not shown"), "{}", between(&text, "A name shows", "</p>"));
    assert!(text.contains("are followed over time"));
}

#[test]
fn empty_and_damaged_traces_are_told() {
    let mut trace = Handwritten::new("alpha");
    trace.class("app:request", "u64 _latency_us;");
    let empty = trace.write();
    let page = Page::of(&[empty.path()]);
    assert_eq!(page.said.status, 0);
    assert!(page.text().contains("the trace has no events"));
    let damaged = hostile();
    let stream = damaged.path().join("stream_0");
    let length = fs::metadata(&stream).unwrap().len();
    fs::OpenOptions::new().write(true).open(&stream).unwrap().set_len(length / 2).unwrap();
    let page = Page::of(&[damaged.path()]);
    assert_eq!(page.said.status, 3, "{:?}", page.said);
    assert!(page.said.err.contains("warning: left out: "), "{:?}", page.said);
    assert!(between(&page.text(), "Lost, damaged or doubtful", "</section>").contains("stream_0"));
}

#[test]
fn without_durations_nothing_is_said_of_incidents() {
    let mut trace = Handwritten::new("alpha");
    let mark = trace.class("app:mark", "u64 _number;");
    (0..10_u64).for_each(|number| trace.event(mark, &[&number.to_le_bytes()]));
    let trace = trace.write();
    let untold = "o incidents can be told: no event has a duration";
    assert!(Page::of(&[trace.path()]).text().contains(untold));
    let table = said(ltt_top(["incidents"]).arg(trace.path())).out;
    assert!(table.contains(untold), "{table}");
}

#[test]
fn any_finding_is_a_page_with_format_html() {
    let trace = hostile();
    for command in ["top", "incidents", "slow", "outliers", "hist", "info", "report"] {
        let page = said(ltt_top([command, "--format", "html"]).arg(trace.path()));
        assert_eq!(page.status, 0, "{page:?}");
        assert!(page.out.starts_with("<!doctype html>") && !page.out.contains("<img"), "{command}");
    }
    let compare = said(ltt_top(["compare", "--format", "html"]).args([trace.path(), trace.path()]));
    assert!(
        compare.out.contains("<h1>Two recordings, compared</h1>") && !compare.out.contains("<img"),
        "{compare:?}"
    );
}
