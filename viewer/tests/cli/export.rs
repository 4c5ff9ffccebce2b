//! `ltt-top export`: timelines, held against the format's rules and against `ltt-top top`.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::io::Read;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::handwritten::{BEGIN, Handwritten, requests};
use super::run::{Said, copy, json, ltt_top, said, streams};
use super::shared_trace::SharedTrace;

/// Exports a trace, and reads what was written.
fn export(trace: &Path, options: &[&str]) -> (Value, Said) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trace.json");
    let said =
        said(ltt_top(["export", "--to", "chrome-trace"]).args(options).arg(trace).arg("-o").arg(&file));
    let written = fs::read(&file).unwrap_or_else(|error| panic!("{error}: {said:?}"));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
    (serde_json::from_slice(&written).expect("it is JSON"), said)
}

pub fn of_phase<'t>(trace: &'t Value, phase: &'t str) -> impl Iterator<Item = &'t Value> {
    trace["traceEvents"].as_array().unwrap().iter().filter(move |event| event["ph"] == phase)
}

/// A time or a length in nanoseconds.
pub fn ns(microseconds: &Value) -> i64 {
    (microseconds.as_f64().expect("a number") * 1000.0).round() as i64
}

/// The format's rules: complete events of a thread nest, and times ascend, the longest of the same time first.
pub fn assert_valid(trace: &Value) {
    assert_eq!(trace["displayTimeUnit"], "ns");
    let mut open: HashMap<(i64, i64), Vec<i64>> = HashMap::new();
    let mut last = (0, i64::MIN);
    for event in of_phase(trace, "X") {
        assert!(event["name"].is_string() && event["args"].is_object(), "{event}");
        let (pid, tid) = (event["pid"].as_i64().unwrap(), event["tid"].as_i64().unwrap());
        assert!(pid > 0 && tid > 0, "{event}");
        let (begin, length) = (ns(&event["ts"]), ns(&event["dur"]));
        assert!(last <= (begin, -length), "times ascend: {event}");
        last = (begin, -length);
        let open = open.entry((pid, tid)).or_default();
        open.retain(|end| *end > begin);
        assert!(open.iter().all(|end| *end >= begin + length), "it nests: {event}");
        open.push(begin + length);
    }
    for (pid, tid) in open.keys() {
        let names = |what: &str| {
            let is_this = |event: &&Value| {
                event["name"] == what
                    && event["pid"] == *pid
                    && (what == "process_name" || event["tid"] == *tid)
            };
            of_phase(trace, "M").filter(is_this).count()
        };
        assert_eq!((names("process_name"), names("thread_name")), (1, 1), "{pid} {tid}");
    }
}

/// The count and the total in nanoseconds of each group: its event and its key.
pub fn totals(trace: &Value, groups: &[Value]) -> BTreeMap<String, (u64, i64)> {
    let keys = |event: &Value| {
        let of_event = groups.iter().find(|group| group["event"] == *event);
        of_event.map(|group| group["key"].as_object().unwrap().keys().cloned().collect::<Vec<_>>())
    };
    let keys: HashMap<String, Vec<String>> = groups
        .iter()
        .map(|group| (group["event"].as_str().unwrap().to_owned(), keys(&group["event"]).unwrap()))
        .collect();
    let mut totals: BTreeMap<String, (u64, i64)> = BTreeMap::new();
    let incidents = incidents_process(trace);
    for event in of_phase(trace, "X").chain(of_phase(trace, "i")) {
        if Some(&event["pid"]) == incidents {
            continue;
        }
        let args = &event["args"];
        let length = match event["ph"] == "i" {
            true => ns(&args["total_us"]),
            false => ns(&event["dur"]) + args.get("clipped by ltt-top (us)").map_or(0, ns),
        };
        let name = event["cat"].as_str().unwrap();
        let key: Vec<Value> = keys[name].iter().map(|key| args[key].clone()).collect();
        let total = totals.entry(format!("{name} {}", json!(key))).or_default();
        *total = (total.0 + 1, total.1 + length);
    }
    totals
}

pub fn incidents_process(trace: &Value) -> Option<&Value> {
    of_phase(trace, "M").find(|event| event["args"]["name"] == "Incidents").map(|event| &event["pid"])
}

/// The same of what `top` says.
pub fn expected(groups: &[Value]) -> BTreeMap<String, (u64, i64)> {
    let timed = groups.iter().filter(|group| !group["total_us"].is_null());
    let plausible = |group: &Value| group["count"].as_u64().unwrap() - group["implausible"].as_u64().unwrap();
    timed
        .filter(|group| plausible(group) > 0)
        .map(|group| {
            let key: Vec<&Value> = group["key"].as_object().unwrap().values().collect();
            let name = format!("{} {}", group["event"].as_str().unwrap(), json!(key));
            (name, (plausible(group), ns(&group["total_us"])))
        })
        .collect()
}

#[test]
fn intervals_of_a_real_trace_nest_and_sum_up_to_what_top_says_with_any_filter() {
    let shared = SharedTrace::unpack();
    let filters: [&[&str]; 4] = [
        &["--since", "+2s", "--until", "+2300ms"],
        &["--event", "command_call", "--where", "duration>=10us"],
        &["--event", "valkey_aof:*"],
        &["--where", "name=eval"],
    ];
    for options in filters {
        export_sums_up_to_top(shared.folder(), options);
    }
}

fn export_sums_up_to_top(folder: &Path, options: &[&str]) -> Value {
    let (trace, said) = export(folder, options);
    assert_eq!(said.status, 0, "{said:?}");
    assert_valid(&trace);
    let top = json(ltt_top(["top"]).args(options).arg(folder));
    let groups = top["groups"].as_array().unwrap();
    let expected = expected(groups);
    assert!(!expected.is_empty(), "{options:?}");
    assert_eq!(totals(&trace, groups), expected, "{options:?}");
    trace
}

#[test]
fn incidents_have_a_track_and_rates_and_blocked_time_are_counters() {
    let shared = SharedTrace::unpack_named("valkey-lite-busy");
    let trace = export_sums_up_to_top(shared.folder(), &[]);
    let process = incidents_process(&trace).expect("there are incidents");
    let shown: Vec<(i64, i64)> = of_phase(&trace, "X")
        .filter(|event| event["pid"] == *process)
        .map(|event| (ns(&event["ts"]), ns(&event["dur"])))
        .collect();
    let found = json(ltt_top(["incidents", "--each", "-n", "0"]).arg(shared.folder()));
    let origin = trace["otherData"]["origin_ns"].as_i64().unwrap();
    let mut expected: Vec<(i64, i64)> = found["incidents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|incident| (incident["begin_ns"].as_i64().unwrap(), incident["end_ns"].as_i64().unwrap()))
        .map(|(begin, end)| (begin - origin, end - begin))
        .collect();
    expected.sort_by_key(|(begin, length)| (*begin, -length));
    assert_eq!(shown, expected);
    let counters = |name: &'static str| of_phase(&trace, "C").filter(move |event| event["name"] == name);
    let rates: Vec<f64> =
        counters("intervals per second").map(|event| event["args"]["rate"].as_f64().unwrap()).collect();
    assert!(rates.iter().any(|rate| *rate > 0.0) && rates.last() == Some(&0.0), "{rates:?}");
    assert!(counters("blocked (%)").any(|event| event["args"]["share"].as_f64().unwrap() > 0.0));
}

#[test]
fn hostile_names_survive_a_parser() {
    let names =
        ["\"quoted\\", "\u{202e}right to left", "\u{1b}[31mred\u{7}", "</script><!--", "\u{fffd}", "ünï"];
    let trace = requests("host\u{1b}", &names.map(|name| (name, 5))).write();
    let (written, said) = export(trace.path(), &[]);
    assert_eq!(said.status, 0, "{said:?}");
    assert_valid(&written);
    let mut found: Vec<&str> =
        of_phase(&written, "X").filter_map(|event| event["args"]["name"].as_str()).collect();
    found.sort_unstable();
    let mut expected = names;
    expected.sort_unstable();
    assert_eq!(found, expected);
    assert!(!said.err.contains('\u{1b}'), "{said:?}");
}

#[test]
fn times_are_exact_to_the_nanosecond() {
    let mut trace = Handwritten::new("host");
    let class = trace.class("app:step", "u64 _duration_ns;");
    trace.event_at(BEGIN + 1_001, class, &[&1_001_u64.to_le_bytes()]);
    trace.event_at(BEGIN + 3_600_000_000_001, class, &[&123_456_789_u64.to_le_bytes()]);
    let (written, _) = export(trace.write().path(), &[]);
    assert_eq!(written["otherData"]["origin_ns"], BEGIN);
    let incidents = incidents_process(&written);
    let found: Vec<(String, String)> = of_phase(&written, "X")
        .filter(|event| Some(&event["pid"]) != incidents)
        .map(|event| (event["ts"].to_string(), event["dur"].to_string()))
        .collect();
    let expected = [("0", "1.001"), ("3599876543.212", "123456.789")];
    assert_eq!(found, expected.map(|(begin, length)| (begin.to_owned(), length.to_owned())));
}

#[test]
fn an_empty_trace_and_one_of_one_event_are_files_that_viewers_open() {
    let empty = Handwritten::new("host").write();
    let (written, said) = export(empty.path(), &[]);
    assert_eq!((said.status, of_phase(&written, "X").count()), (0, 0), "{said:?}");
    assert!(said.err.contains("nothing found"), "{said:?}");
    let one = requests("host", &[("get", 7)]).write();
    let (written, said) = export(one.path(), &[]);
    assert_valid(&written);
    let event = of_phase(&written, "X").next().expect("one event");
    assert_eq!(
        (&event["name"], &event["ts"], &event["dur"], &event["pid"]),
        (&json!("request"), &json!(0), &json!(7), &json!(42))
    );
    assert_eq!(
        said.err.lines().filter(|line| line.contains("1 interval of 1 thread")).count(),
        1,
        "{said:?}"
    );
}

#[test]
fn of_a_damaged_trace_the_rest_is_written_and_the_status_says_so() {
    let shared = SharedTrace::unpack();
    let trace = copy(shared.folder());
    let stream = &streams(trace.path())[0];
    let length = fs::metadata(stream).unwrap().len();
    fs::OpenOptions::new().write(true).open(stream).unwrap().set_len(length / 2).unwrap();
    let (written, said) = export(trace.path(), &["--where", "duration>=10us"]);
    assert_eq!(said.status, 3, "{said:?}");
    assert!(said.err.contains("warning: left out: "), "{said:?}");
    assert_valid(&written);
    assert!(of_phase(&written, "X").count() > 0);
}

#[test]
fn a_file_is_replaced_on_request_and_compressed_by_its_name() {
    let trace = requests("host", &[("get", 7)]).write();
    let folder: TempDir = tempfile::tempdir().unwrap();
    let file = folder.path().join("trace.json.gz");
    fs::write(&file, "precious").unwrap();
    let replaced = said(ltt_top(["export", "--force"]).arg(trace.path()).arg("--output").arg(&file));
    assert_eq!(replaced.status, 0, "{replaced:?}");
    let mut text = String::new();
    flate2::read::GzDecoder::new(fs::File::open(&file).unwrap()).read_to_string(&mut text).unwrap();
    assert_valid(&serde_json::from_str(&text).expect("it is JSON"));
}

#[test]
fn of_what_is_too_large_the_longest_are_written_and_what_is_around_incidents() {
    let shared = SharedTrace::unpack();
    let window = ["--since", "+8s", "--until", "+8300ms"];
    let (all, _) = export(shared.folder(), &window);
    let (some, said) = export(shared.folder(), &[&window[..], &["--max-size", "1"]].concat());
    assert_eq!(said.status, 0, "{said:?}");
    assert!(said.err.contains("left out, to keep within --max-size"), "{said:?}");
    assert_valid(&some);
    let slices = |trace: &Value| -> BTreeSet<(i64, i64, String)> {
        let (origin, incidents) = (trace["otherData"]["origin_ns"].as_i64(), incidents_process(trace));
        let at = |event: &Value| ns(&event["ts"]) + origin.unwrap();
        let slice = |event: &Value| (ns(&event["dur"]), at(event), event["args"].to_string());
        of_phase(trace, "X").filter(|event| Some(&event["pid"]) != incidents).map(slice).collect()
    };
    let (all, kept) = (slices(&all), slices(&some));
    let bytes = some.to_string().len();
    assert!(bytes < 5 << 18 && kept.len() * 2 < all.len(), "{bytes} bytes, {} of {}", kept.len(), all.len());
    let incidents = json(ltt_top(["incidents", "--each", "-n", "0"]).args(window).arg(shared.folder()));
    let incidents = incidents["incidents"].as_array().unwrap();
    let is_near = |(length, at, _): &(i64, i64, String)| {
        incidents.iter().any(|incident| {
            let [begin, end] = ["begin_ns", "end_ns"].map(|key| incident[key].as_i64().unwrap());
            *at <= end + 10_000_000 && at + length >= begin - 10_000_000
        })
    };
    let (near, far): (Vec<_>, Vec<_>) = all.difference(&kept).partition(|slice| is_near(slice));
    for (left_out, is_kept_from) in [(near, true), (far, false)] {
        let longest = left_out.iter().map(|slice| slice.0).max().unwrap_or(0);
        // Lengths are told apart by a sixteenth of a doubling.
        let longer =
            all.iter().filter(|slice| is_near(slice) == is_kept_from && slice.0 > longest + longest / 8);
        assert!(longer.into_iter().all(|slice| kept.contains(slice)), "longer than {longest} ns");
    }
}

#[test]
fn the_size_of_the_file_is_estimated_first() {
    let shared = SharedTrace::unpack();
    let folder = tempfile::tempdir().unwrap();
    let [all, some] = [&["--force"][..], &["--max-size", "1"]].map(|options| {
        let file = folder.path().join(format!("{}.json", options[0]));
        let export = ["export", "--event", "valkey_aof:*", "--output"];
        let said = said(ltt_top(export).arg(&file).args(options).arg(shared.folder()));
        let estimate = said.err.strip_prefix("ltt-top: about ").expect("it comes first");
        let estimate: f64 = estimate.split(' ').next().unwrap().parse().unwrap();
        (estimate, fs::metadata(file).unwrap().len() as f64 / f64::from(1 << 20), said.err)
    });
    assert!((all.1 / 2.0..=all.1 * 2.0).contains(&all.0), "{all:?}");
    assert!(all.0 == some.0 && some.1 < 1.5, "{some:?}");
    assert!(some.2.contains(" MiB, more than 1: the longest intervals"), "{some:?}");
}

#[test]
fn a_trace_without_durations_gets_a_line_that_says_so() {
    let mut trace = Handwritten::new("host");
    let class = trace.class("app:step", "u64 _number;");
    trace.event_at(BEGIN + 1_001, class, &[&1_001_u64.to_le_bytes()]);
    let (_, said) = export(trace.write().path(), &[]);
    assert!(said.err.contains("the timeline is empty: none of 1 event has a duration"), "{said:?}");
}

#[test]
fn around_a_time_only_what_is_near_is_written() {
    let shared = SharedTrace::unpack();
    let (trace, said) = export(shared.folder(), &["--around", "+3s", "--within", "50ms"]);
    assert_eq!(said.status, 0, "{said:?}");
    let window = ["top", "--since", "+2950ms", "--until", "+3050ms"];
    let top = json(ltt_top(window).arg(shared.folder()));
    let groups = top["groups"].as_array().unwrap();
    assert_eq!(totals(&trace, groups), expected(groups));
}

/// Requests of an async program on one thread, each with a query: by times, the second would contain the first's query.
pub fn interleaved() -> TempDir {
    let mut trace = Handwritten::new("host");
    let fields = "u64 _tracing_span; u64 _tracing_parent; u64 _latency_us;";
    let (request, query) = (trace.class("app:request", fields), trace.class("app:query", fields));
    for (class, own, parent, begin, end) in [
        (query, 11_u64, 1_u64, 1_000, 8_000),
        (query, 22, 2, 2_000, 8_500),
        (query, 23, 2, 3_000, 8_700),
        (request, 2, 0, 500, 9_000),
        (request, 1, 0, 0, 10_000_u64),
    ] {
        let payload = [own, parent, end - begin].map(u64::to_le_bytes);
        trace.event_at(BEGIN + 1_000 * end, class, &payload.each_ref().map(|bytes| &bytes[..]));
    }
    trace.write()
}

#[test]
fn spans_with_numbers_are_trees_of_requests_however_they_interleave() {
    let trace = interleaved();
    let (written, _) = export(trace.path(), &[]);
    assert_valid(&written);
    let incidents = incidents_process(&written);
    let on_threads = of_phase(&written, "X").filter(|event| Some(&event["pid"]) != incidents);
    assert_eq!(on_threads.count(), 0, "they are not slices of the thread");
    // What viewers do: by time, in the order of the file, what ends is the last of its id to begin.
    let mut events: Vec<&Value> = of_phase(&written, "b").chain(of_phase(&written, "e")).collect();
    let place =
        |event: &Value| written["traceEvents"].as_array().unwrap().iter().position(|one| one == event);
    events.sort_by_key(|event| (ns(&event["ts"]), place(event)));
    let mut open: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    let mut found: Vec<(i64, Vec<String>)> = Vec::new();
    for event in events {
        assert!(event["cat"] == "span" && event["pid"] == 42, "{event}");
        let open = open.entry(event["id"].as_str().unwrap()).or_default();
        if event["ph"] == "b" {
            open.push(event);
            continue;
        }
        let path = open.iter().map(|event| event["name"].as_str().unwrap().to_owned()).collect();
        let begin = open.pop().expect("it has begun");
        assert_eq!(begin["name"], event["name"]);
        assert_eq!(begin["args"]["event"], format!("app:{}", begin["name"].as_str().unwrap()));
        found.push((ns(&event["ts"]) - ns(&begin["ts"]), path));
    }
    let path = |names: &str| names.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let expected = [
        (7_000_000, path("request query")),
        (6_500_000, path("request query")),
        // It and the one before are open at the same time, so it has an id beside the request's.
        (5_700_000, path("query")),
        (8_500_000, path("request")),
        (10_000_000, path("request")),
    ];
    assert_eq!(found, expected);
    let ids: BTreeSet<String> = of_phase(&written, "b").map(|event| event["id"].to_string()).collect();
    assert_eq!(ids.len(), 3, "{ids:?}");
}

#[test]
fn slow_nests_spans_by_their_numbers() {
    let found = json(ltt_top(["slow"]).arg(interleaved().path()));
    let link = |link: &Value| format!("{} {}", link["event"].as_str().unwrap(), link["duration_us"]);
    let chains: Vec<Vec<String>> = found["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| event["chain"].as_array().unwrap().iter().map(link).collect())
        .collect();
    let expected = [
        ["app:request 10000", "app:query 7000"],
        ["app:request 8500", "app:query 12200"],
        ["app:request 10000", "app:query 7000"],
        ["app:request 8500", "app:query 6500"],
        ["app:request 8500", "app:query 5700"],
    ];
    assert_eq!(chains, expected);
}

#[test]
fn incidents_name_the_queries_of_the_request_itself() {
    let found = json(ltt_top(["incidents", "--each"]).arg(interleaved().path()));
    let link = |link: &Value| format!("{} {}", link["event"].as_str().unwrap(), link["duration_us"]);
    let chain = |incident: &Value| incident["chain"].as_array().unwrap().iter().map(link).collect::<Vec<_>>();
    let mut chains: Vec<_> = found["incidents"].as_array().unwrap().iter().map(chain).collect();
    chains.sort();
    let expected = [["app:request 10000", "app:query 7000"], ["app:request 8500", "app:query 12200"]];
    assert_eq!(chains, expected, "each request is an incident, with what it waited for");
}
