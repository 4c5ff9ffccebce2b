//! How fast and in how much memory traces are read: `ltt-top top` and the source behind it, beside Babeltrace
//! 2 with a sink that does nothing, and beside a decoder written for this one layout, which is the floor.
//!
//! `cargo bench -p ltt-top --bench reading` reads 5,000,000 events; `EVENTS` asks for another number. A bench,
//! and no test: nothing fails on a figure.
//!
//! All readers take turns, round after round, so that whatever else the machine does meets all of them; of each the
//! best round counts.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ltt_top::source::discover::discover;
use ltt_top::source::native::Native;
use ltt_top::source::{Collect, EventClass, Events, Progress, Source, Value, Window};
use lttng_testing::Table;

mod floor;
mod synthetic;

/// How many rounds there are.
const ROUNDS: u32 = 9;

/// One of the readers that are compared.
struct Reader {
    what: String,
    /// How many times as fast as Babeltrace 2 it shall be.
    target: &'static str,
    /// It takes part in one of so many rounds.
    every: u32,
    run: Run,
}

/// How to read a trace.
enum Run {
    /// With a program.
    Program(Box<dyn Fn(&Path) -> Command>),
    /// Within this one; says how many events it read.
    Here(Box<dyn Fn(&Path) -> u64>),
}

fn main() {
    let events = std::env::var("EVENTS").map_or(5_000_000, |events| events.parse().expect("a number"));
    let (folder, tenth) = (trace(events), trace(events / 10));
    let readers = readers();
    let mut best = vec![Duration::MAX; readers.len()];
    for round in 0..ROUNDS {
        for (reader, best) in readers.iter().zip(&mut best).filter(|(reader, _)| round % reader.every == 0) {
            *best = (*best).min(reader.time(&folder, events));
        }
    }
    let size: u64 = ["ch_0", "ch_1"].iter().map(|stream| length(&folder.join(stream))).sum();
    let title = format!(
        "Reading {events} command_call events, {} MB: the best of {ROUNDS} rounds, and peak resident memory, for a \
         tenth of the events too",
        size / 1_000_000,
    );
    let mut table = Table::new(
        &title,
        &[
            "reader, threads",
            "seconds",
            "M events/s",
            "x Babeltrace 2",
            "target",
            "% of the floor",
            "MB",
            "MB, 1/10",
        ],
    );
    for (reader, time) in readers.iter().zip(&best) {
        let seconds = time.as_secs_f64();
        let compared_with = |other: Duration| other.as_secs_f64() / seconds;
        table.row([
            reader.what.clone(),
            format!("{seconds:.3}"),
            format!("{:.1}", events as f64 / seconds / 1e6),
            format!("{:.1}", compared_with(best[0])),
            reader.target.to_owned(),
            format!("{:.0}", 100.0 * compared_with(best[1])),
            reader.peak_memory(&folder),
            reader.peak_memory(&tenth),
        ]);
    }
    println!("{table}");
}

/// The readers, those that the others are compared with first.
fn readers() -> Vec<Reader> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let program = |what: String, target, every, command: Box<dyn Fn(&Path) -> Command>| Reader {
        what,
        target,
        every,
        run: Run::Program(command),
    };
    let here = |what: String, read: Box<dyn Fn(&Path) -> u64>| Reader {
        what,
        target: "",
        every: 1,
        run: Run::Here(read),
    };
    let mut readers = vec![
        program("Babeltrace 2, dummy sink, 1".into(), "", 1, Box::new(babeltrace2)),
        here("decoder for this layout alone, 1".into(), Box::new(|folder| floor::read(folder).events())),
    ];
    for threads in [1, cores] {
        let target = if threads == 1 { "25" } else { "40" };
        let top = move |folder: &Path| top(folder, "native", threads);
        readers.extend([
            here(
                format!("native source, stepping over all, {threads}"),
                Box::new(move |folder| source(folder, threads, false)),
            ),
            here(
                format!("native source, name and duration, {threads}"),
                Box::new(move |folder| source(folder, threads, true)),
            ),
            program(format!("ltt-top top, {threads}"), target, 1, Box::new(top)),
        ]);
    }
    if cfg!(feature = "babeltrace2") {
        let top = |folder: &Path| top(folder, "babeltrace2", 1);
        readers.push(program("ltt-top top --source=babeltrace2, 1".into(), "", 3, Box::new(top)));
    }
    readers
}

impl Reader {
    fn time(&self, folder: &Path, events: u64) -> Duration {
        let start = Instant::now();
        match &self.run {
            Run::Program(command) => assert!(command(folder).status().expect("it is installed").success()),
            Run::Here(read) => assert_eq!(read(folder), events),
        }
        start.elapsed()
    }

    /// The most memory that a program has while it runs, in MB, as far as looking again and again tells.
    fn peak_memory(&self, folder: &Path) -> String {
        let Run::Program(command) = &self.run else { return String::new() };
        let mut process = command(folder).spawn().expect("it is installed");
        let mut peak = 0;
        while process.try_wait().expect("it can be waited for").is_none() {
            let status =
                std::fs::read_to_string(format!("/proc/{}/status", process.id())).unwrap_or_default();
            let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
            peak = peak.max(line.trim().trim_end_matches(" kB").parse().unwrap_or(0));
            std::thread::sleep(Duration::from_millis(1));
        }
        format!("{:.1}", f64::from(peak) / 1e3)
    }
}

/// A trace with so many events, written once.
fn trace(events: u64) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("reading-{events}"));
    if !folder.join("metadata").exists() {
        synthetic::write(&folder, events).expect("the trace can be written");
    }
    folder
}

fn source(folder: &Path, threads: usize, wanted: bool) -> u64 {
    let found = discover(&[folder]).expect("there is a trace");
    let mut source = Native::open(found).expect("it can be opened").threads(threads);
    let collector = Totals { wanted, events: 0, total: 0 };
    let read = source.read(Window::default(), collector, &Progress::default());
    let (totals, report) = read.expect("it can be read");
    assert_eq!((totals.events, totals.total > 0), (if wanted { report.events } else { 0 }, wanted));
    report.events
}

/// Sums durations up, event by event.
struct Totals {
    wanted: bool,
    events: u64,
    total: u64,
}

impl Collect for Totals {
    fn want(&mut self, class: &Arc<EventClass>) -> Option<Vec<usize>> {
        let fields = ["name", "duration"].map(|name| class.field(name).expect("it has the field"));
        self.wanted.then(|| fields.to_vec())
    }

    fn events(&mut self, events: &Events<'_>) {
        for event in events.iter() {
            if let (Value::Text(_), Value::Unsigned(duration)) = (event.value(0), event.value(1)) {
                self.events += 1;
                self.total += duration;
            }
        }
    }

    fn split(&self) -> Totals {
        Totals { wanted: self.wanted, events: 0, total: 0 }
    }

    fn absorb(&mut self, other: Totals) {
        self.events += other.events;
        self.total += other.total;
    }
}

fn top(folder: &Path, source: &str, threads: usize) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ltt-top"));
    command.args(["top", "--format=json", "--source", source, "--threads", &threads.to_string()]).arg(folder);
    command.stdout(Stdio::null());
    command
}

fn babeltrace2(folder: &Path) -> Command {
    let mut command = Command::new("babeltrace2");
    command.arg(folder).args(["--component", "sink.utils.dummy"]).stdout(Stdio::null());
    command
}

fn length(path: &Path) -> u64 {
    path.metadata().expect("the stream is there").len()
}
