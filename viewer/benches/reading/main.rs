//! How fast and in how much memory traces are read: `ltt-top top` and the source behind it, beside Babeltrace
//! 2 with a sink that does nothing, and beside a decoder written for this one layout, which is the floor.
//!
//! `cargo bench -p ltt-top --bench reading` reads 5,000,000 events; `EVENTS` asks for another number. A bench,
//! and no test: nothing fails on a figure.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ltt_top::source::discover::discover;
use ltt_top::source::native::Native;
use ltt_top::source::{Collect, Event, EventClass, Progress, Source, Value, Window};
use lttng_testing::Table;

mod floor;
mod synthetic;

/// How often to run each, to take the best.
const RUNS: u32 = 5;

fn main() {
    let events = std::env::var("EVENTS").map_or(5_000_000, |events| events.parse().expect("a number"));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let folder = trace(events);
    speed(&folder, events, cores);
    memory(events, cores);
}

fn speed(folder: &Path, events: u64, cores: usize) {
    let size: u64 = ["ch_0", "ch_1"].iter().map(|stream| length(&folder.join(stream))).sum();
    let title = format!("Reading {events} command_call events, {} MB, best of {RUNS} runs", size / 1_000_000);
    let columns = ["reader, threads", "seconds", "M events/s", "x Babeltrace 2", "target", "% of the floor"];
    let mut table = Table::new(&title, &columns);
    let babeltrace = best(|| babeltrace2(folder));
    let floor = best(|| assert_eq!(floor::read(folder).values().map(|sum| sum.0).sum::<u64>(), events));
    let mut row = |what: String, time: Duration, target: &str| {
        let seconds = time.as_secs_f64();
        let speed = format!("{:.1}", events as f64 / seconds / 1e6);
        let times = format!("{:.1}", babeltrace.as_secs_f64() / seconds);
        let share = format!("{:.0}", 100.0 * floor.as_secs_f64() / seconds);
        table.row([what, format!("{seconds:.3}"), speed, times, target.to_owned(), share]);
    };
    row("Babeltrace 2, dummy sink, 1".into(), babeltrace, "");
    row("decoder for this layout alone, 1".into(), floor, "");
    for threads in [1, cores] {
        for (what, wanted) in [("stepping over all", false), ("name and duration", true)] {
            let time = best(|| source(folder, threads, wanted, events));
            row(format!("native source, {what}, {threads}"), time, "");
        }
        let time = best(|| assert!(top(folder, threads).status().expect("it runs").success()));
        row(format!("ltt-top top, {threads}"), time, if threads == 1 { "25" } else { "40" });
    }
    println!("{table}");
}

fn memory(events: u64, cores: usize) {
    let mut table = Table::new("Peak resident memory of ltt-top top", &["events, threads", "MB"]);
    for share in [10, 1] {
        for threads in [1, cores] {
            let folder = trace(events / share);
            let peak = peak_memory(&mut top(&folder, threads));
            table.row([format!("{}, {threads}", events / share), format!("{:.1}", peak as f64 / 1e3)]);
        }
    }
    println!("{table}");
}

/// A trace with so many events, written once.
fn trace(events: u64) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("reading-{events}"));
    if !folder.join("metadata").exists() {
        synthetic::write(&folder, events).expect("the trace can be written");
    }
    folder
}

fn source(folder: &Path, threads: usize, wanted: bool, events: u64) {
    let found = discover(&[folder]).expect("there is a trace");
    let mut source = Native::open(found).expect("it can be opened").threads(threads);
    let collector = Totals { wanted, sums: HashMap::new() };
    let read = source.read(Window::default(), collector, &Progress::default());
    let (totals, report) = read.expect("it can be read");
    assert_eq!(report.events, events);
    assert_eq!(totals.sums.values().map(|sum| sum.0).sum::<u64>(), if wanted { events } else { 0 });
}

/// Counts and sums durations by name, as a ranking of commands does.
struct Totals {
    wanted: bool,
    sums: floor::Sums,
}

impl Collect for Totals {
    fn want(&mut self, class: &Arc<EventClass>) -> Option<Vec<usize>> {
        let fields = ["name", "duration"].map(|name| class.field(name).expect("it has the field"));
        self.wanted.then(|| fields.to_vec())
    }

    fn event(&mut self, event: &Event<'_>) {
        if let [Value::Text(name), Value::Unsigned(duration)] = event.values {
            floor::add(&mut self.sums, name, *duration);
        }
    }

    fn split(&self) -> Totals {
        Totals { wanted: self.wanted, sums: HashMap::new() }
    }

    fn absorb(&mut self, other: Totals) {
        for (name, (count, total)) in other.sums {
            let sum = self.sums.entry(name).or_default();
            *sum = (sum.0 + count, sum.1 + total);
        }
    }
}

fn top(folder: &Path, threads: usize) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ltt-top"));
    command.args(["top", "--source=native", "--format=json", "--threads", &threads.to_string()]).arg(folder);
    command.stdout(Stdio::null());
    command
}

fn babeltrace2(folder: &Path) {
    let mut command = Command::new("babeltrace2");
    command.arg(folder).args(["--component", "sink.utils.dummy"]).stdout(Stdio::null());
    assert!(command.status().expect("babeltrace2 is installed").success());
}

fn best(mut run: impl FnMut()) -> Duration {
    let times = (0..RUNS).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed()
    });
    times.min().unwrap_or_default()
}

/// The most memory that a program has while it runs, in kilobytes, as far as looking again and again tells.
fn peak_memory(command: &mut Command) -> u64 {
    let mut process = command.spawn().expect("it runs");
    let mut peak = 0;
    while process.try_wait().expect("it can be waited for").is_none() {
        let status = std::fs::read_to_string(format!("/proc/{}/status", process.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
        peak = peak.max(line.trim().trim_end_matches(" kB").parse().unwrap_or(0));
        std::thread::sleep(Duration::from_millis(1));
    }
    peak
}

fn length(path: &Path) -> u64 {
    path.metadata().expect("the stream is there").len()
}
