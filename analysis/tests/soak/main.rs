//! Weeks of a busy server in compressed time, through what `ltt-top live --metrics` computes: memory stays flat, and the last
//! hour has the figures that it has alone.
//!
//! `SOAK_DAYS=30 cargo test --release -p ltt-analysis --test soak -- --ignored --nocapture` prints a line a day.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use ctf_reader::{Reader, Report, Window};
use ltt_analysis::Selection;
use ltt_analysis::live::{Audience, LiveAnalysis, Meter, Metrics};
use ltt_analysis::meaning::Dictionary;
use lttng_testing::CountingAllocator;

#[allow(dead_code)]
#[path = "../../../viewer/benches/reading/synthetic.rs"]
mod synthetic;

use synthetic::{Call, Random};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::new();

/// Memory is that of the process: one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// What comes and goes in an hour: 2,000,000 threads and 10,000,000 clients in 30 days.
const THREADS: u64 = 2_000_000 / 720;
const CLIENTS: u64 = 10_000_000 / 720;

/// Two requests of each client.
const CALLS: u64 = 2 * CLIENTS;

const SECOND: u64 = 1_000_000_000;
const HOUR: u64 = 3600 * SECOND;

/// What an hour's clock begins at, so that hours are those of the calendar; the clock's origin is in the metadata.
const FIRST: u64 = HOUR - 1_794_699_980_026_185_944 % HOUR;

/// An hour of the server, which is restarted at its beginning: new processes, threads and clients. Every ten minutes, but not
/// near the ends of an hour, one command holds the others up.
fn hour(number: u64) -> impl Iterator<Item = Call> {
    let mut random = Random(number + 1);
    let step = HOUR / CALLS;
    (0..CALLS).map(move |place| {
        let clock = FIRST + number * HOUR + place * step + random.below(step / 2);
        let is_stall = place % (CALLS / 6) == CALLS / 12;
        let duration = if is_stall { 80_000 + random.below(9000) } else { 50 + random.below(20) };
        let (thread, client) = (place * THREADS / CALLS, number * CLIENTS + place / 2);
        let name = if is_stall { "keys" } else { ["get", "set", "hget"][random.below(3) as usize] };
        let process = 1000 + number as u32;
        Call { clock, process, thread: (process << 12) + thread as u32, client, name, duration }
    })
}

/// A minute of a server that was restarted at its beginning, with 600 clients.
fn minute(number: u64) -> impl Iterator<Item = Call> {
    const CALLS: u64 = 3000;
    let mut random = Random(number + 1);
    let process = 1000 + number as u32;
    (0..CALLS).map(move |place| {
        let clock = FIRST + (number * CALLS + place) * 60 * SECOND / CALLS;
        let (thread, client) = ((process << 12) + place as u32 % 4, number * 600 + place % 600);
        Call { clock, process, thread, client, name: "get", duration: 50 + random.below(20) }
    })
}

/// Feeds hours, or what else has numbers, each from its own chunk as after a rotation, and looks at the metrics after each.
fn watch<I: Iterator<Item = Call>>(
    chunks: Range<u64>,
    calls: impl Fn(u64) -> I,
    look: impl FnMut(u64, Metrics),
) {
    watch_as(true, chunks, calls, look);
}

/// The same with or without finding out what events say where they are read.
fn watch_as<I: Iterator<Item = Call>>(
    is_digested: bool,
    chunks: Range<u64>,
    calls: impl Fn(u64) -> I,
    mut look: impl FnMut(u64, Metrics),
) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let dictionary = Dictionary { catalogs: vec![lttng_catalog::valkey()], duration: None };
    let selection = Arc::new(Selection { dictionary, ..Selection::default() });
    let (mut analysis, mut meter) = (LiveAnalysis::new(&selection, 10_000_000), Meter::default());
    analysis.meter();
    let mut report = Report::default();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("metadata"), synthetic::metadata()).unwrap();
    for number in chunks {
        feed(&mut analysis, is_digested, folder.path(), calls(number), &mut report);
        // A service has no reader.
        analysis.mark_reported();
        look(number, meter.read(&mut analysis, &report, Vec::new(), 0));
    }
}

fn feed(
    analysis: &mut LiveAnalysis,
    is_digested: bool,
    folder: &Path,
    calls: impl Iterator<Item = Call>,
    report: &mut Report,
) {
    let mut calls = calls.peekable();
    let begin = calls.peek().map_or(FIRST, |first| first.clock);
    synthetic::write_calls(&folder.join("ch_0"), 0, begin, calls).unwrap();
    let reader = Reader::open(&[folder]).unwrap();
    let wanted: Vec<_> = reader.classes().map(|class| analysis.class(class, Some("server"))).collect();
    let mut events = reader.in_order(Window::default(), move |class| wanted[class.index].clone());
    if is_digested {
        events = events.with_digester(analysis.digester().unwrap());
    }
    events.next_digests(usize::MAX, |event| analysis.event(event));
    report.events += events.report().events;
}

/// The counters of a page, by their names.
fn counters(metrics: &Metrics) -> BTreeMap<String, u64> {
    let mut counters = BTreeMap::from([("events".to_owned(), metrics.events)]);
    for host in &metrics.hosts {
        counters.insert(format!("incidents {}", host.host), host.incidents);
        counters.insert(format!("blocked {}", host.host), host.blocked_ns);
    }
    for series in &metrics.causes {
        series.counters.iter().enumerate().for_each(|(place, counter)| {
            counters.insert(format!("cause {place} {:?}", series.name), *counter);
        });
    }
    for series in &metrics.groups {
        series.counters.iter().enumerate().for_each(|(place, counter)| {
            counters.insert(format!("group {place} {:?}", series.name), *counter);
        });
    }
    counters
}

/// How much each counter rose.
fn rise(before: &BTreeMap<String, u64>, after: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    after.iter().map(|(name, count)| (name.clone(), count - before.get(name).unwrap_or(&0))).collect()
}

/// The memory in use after each hour, and what the last hour added to the counters.
fn soak(hours: Range<u64>) -> (Vec<usize>, BTreeMap<String, u64>, Metrics) {
    let (mut memory, mut pages) = (Vec::new(), Vec::new());
    let (last, first) = (hours.end - 1, hours.start);
    let mut end = Metrics::default();
    watch(hours, hour, |number, metrics| {
        memory.push(ALLOCATOR.used());
        if (number - first) % 24 == 23 {
            let mib = ALLOCATOR.used() as f64 / f64::from(1 << 20);
            println!("day {}: {mib:.1} MiB in use, {} events", (number - first) / 24 + 1, metrics.events);
        }
        if number + 1 >= last {
            pages.push(counters(&metrics));
        }
        end = metrics;
    });
    let [.., before, after] = &pages[..] else { panic!("two hours at least") };
    (memory, rise(before, after), end)
}

/// Watches for some days.
fn lasts(days: u64) {
    let hours = days * 24;
    let (_, alone, _) = soak(hours - 2..hours);
    let (memory, last, end) = soak(0..hours);
    assert_eq!(last, alone, "the last hour has the figures that it has alone");
    assert!(last["incidents server"] >= 5, "{last:?}");
    // What an hour takes at its end: the watch is as old then each time.
    let (first, most) = (memory[..24].iter().max().unwrap(), memory[24..].iter().max().unwrap());
    println!("at most {} KiB on the first day, {} KiB after it", first >> 10, most >> 10);
    assert!(*most as f64 <= *first as f64 * 1.1, "{memory:?}");
    assert!(end.forgotten.is_empty(), "{:?}", end.forgotten);
    assert!(
        end.aged_threads >= (hours - 2) * THREADS && end.aged_clients >= (hours - 2) * CLIENTS,
        "{end:?}"
    );
}

#[test]
#[ignore = "make check: a minute"]
fn days_of_a_busy_server_take_no_more_memory_than_one() {
    lasts(std::env::var("SOAK_DAYS").map_or(2, |days| days.parse().expect("a number of days")));
}

#[test]
fn a_server_that_is_restarted_every_minute_leaves_little_behind() {
    let mut memory = Vec::new();
    watch(0..50, minute, |_, _| memory.push(ALLOCATOR.used()));
    let grown = memory[49].saturating_sub(memory[14]) / 35;
    println!("{} KiB after 15 minutes, {} KiB a minute from then on", memory[14] >> 10, grown >> 10);
    // The names of 600 clients, known to the watch and to what finds out what events say.
    assert!(grown < 600 * 384, "{memory:?}");
}

#[test]
fn no_figure_depends_on_where_it_is_found_out_what_events_say() {
    let pages = [true, false].map(|is_digested| {
        let mut pages = Vec::new();
        watch_as(is_digested, 0..2, hour, |_, metrics| pages.push(counters(&metrics)));
        pages
    });
    assert_eq!(pages[0], pages[1]);
}

#[test]
fn hours_of_a_busy_server_are_counted_as_if_alone() {
    let (_, alone, _) = soak(2..4);
    let (_, last, end) = soak(0..4);
    assert_eq!(last, alone);
    assert!(last["incidents server"] >= 5, "{last:?}");
    assert!(end.aged_threads >= 2 * THREADS, "{end:?}");
}
