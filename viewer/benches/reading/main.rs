//! How fast and in how much memory traces are read, beside Babeltrace 2 and beside a decoder written for one layout
//! alone, which is the floor.
//!
//! `cargo bench -p ltt-top --bench reading` reads 5,000,000 events, once as a trace that LTTng recorded and once as a
//! synthetic one; `EVENTS` asks for another number. `-- growth` prints instead how the cost grows, up to `EVENTS`, and `-- commands
//! TRACE...` what commands take of traces such as those of `benches/real-traces.sh`. Nothing fails on a figure.
//!
//! All readers take turns, round after round, so that whatever else the machine does affects all of them; of each the
//! best round counts.

use std::convert::Infallible;
use std::hint::black_box;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ctf_reader::{Brief, Collect, EventClass, Events, Field, Progress, Reader, Step, Wanted, Window};
use lttng_testing::Table;

mod commands;
mod floor;
mod growth;
mod recorded;
mod synthetic;

/// The number of rounds.
const ROUNDS: u32 = 9;

/// One of the readers that are compared.
struct Contender {
    what: String,
    /// What it is compared with, by its place among the contenders, and how many times as fast it shall be.
    target: Option<(usize, f64)>,
    /// It takes part in one round of this number.
    every: u32,
    run: Run,
}

/// How to read a trace.
enum Run {
    /// With a program.
    Program(Box<dyn Fn(&Path) -> Command>),
    /// Within this one; returns the number of events that it read.
    Here(Box<dyn Fn(&Path) -> u64>),
}

/// Writes a trace with this number of events into a folder.
type Write = fn(&Path, u64);

/// Where Babeltrace 2 with a sink that does nothing, the floor, and Babeltrace 2 that prints are among the contenders.
const DUMMY: usize = 0;
const FLOOR: usize = 1;
const TEXT: usize = 2;
/// Where `ltt-top top` on all cores and `ltt-top incidents` are.
const TOP: usize = 8;
const INCIDENTS: usize = 11;

fn main() {
    let events: u64 = std::env::var("EVENTS").map_or(5_000_000, |events| events.parse().expect("a number"));
    let mut arguments = std::env::args().skip(1).filter(|argument| !argument.starts_with('-'));
    match arguments.next().as_deref() {
        Some("growth") => return growth::tables(events).iter().for_each(|table| println!("{table}")),
        Some("commands") => {
            return arguments.for_each(|trace| println!("{}", commands::table(Path::new(&trace))));
        }
        _ => {}
    }
    let kinds: [(&str, Write); 2] = [
        ("recorded by LTTng (vpid, vtid, sub-buffers of 8 MB)", recorded::write),
        ("synthetic", |folder, events| synthetic::write(folder, events, 2).expect("it can be written")),
    ];
    for (kind, write) in kinds {
        let name = kind.split(' ').next().unwrap_or_default();
        compare(kind, &trace(&format!("{name}-{events}"), |folder| write(folder, events)), events);
    }
}

/// Prints how fast a trace is read.
fn compare(kind: &str, folder: &Path, events: u64) {
    let contenders = contenders();
    let mut best = vec![Duration::MAX; contenders.len()];
    for round in 0..ROUNDS {
        for (contender, best) in contenders.iter().zip(&mut best).filter(|(one, _)| round % one.every == 0) {
            *best = (*best).min(contender.time(folder, events));
        }
    }
    let files = ctf_reader::stream_files(folder).expect("the folder can be read");
    let size: u64 = files.iter().map(|file| file.metadata().expect("it is there").len()).sum();
    let title = format!(
        "Reading {events} command_call events, {} MB, {kind}: the best of {ROUNDS} rounds",
        size / 1_000_000
    );
    let columns = ["reader, threads", "seconds", "M events/s", "x Babeltrace 2", "% of the floor", "target"];
    let mut table = Table::new(&title, &columns);
    for (contender, time) in contenders.iter().zip(&best) {
        let seconds = time.as_secs_f64();
        let times = |other: usize| best[other].as_secs_f64() / seconds;
        let against = contender.target.map_or(DUMMY, |(other, _)| other);
        let against = if against == FLOOR { DUMMY } else { against };
        let target = contender.target.map_or(String::new(), |(other, target)| match other {
            FLOOR => format!("{:.0} % of the floor", target * 100.0),
            _ => format!("{target} times"),
        });
        table.row([
            contender.what.clone(),
            format!("{seconds:.3}"),
            format!("{:.1}", events as f64 / seconds / 1e6),
            format!("{:.1}", times(against)),
            format!("{:.0}", 100.0 * times(FLOOR)),
            target,
        ]);
    }
    println!("{table}");
}

/// The readers, those that the others are compared with first.
fn contenders() -> Vec<Contender> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let program = |what: &str, target, every, command: Box<dyn Fn(&Path) -> Command>| Contender {
        what: what.into(),
        target,
        every,
        run: Run::Program(command),
    };
    let here = |what: String, target, read: Box<dyn Fn(&Path) -> u64>| Contender {
        what,
        target,
        every: 1,
        run: Run::Here(read),
    };
    let mut contenders = vec![
        program("Babeltrace 2, dummy sink, 1", None, 3, Box::new(|folder| babeltrace2(folder, true))),
        here(
            "decoder for this layout alone, 1".into(),
            None,
            Box::new(|folder| floor::read(folder).events()),
        ),
        program(
            "Babeltrace 2, text, 1",
            Some((TEXT, 1.0)),
            ROUNDS,
            Box::new(|folder| babeltrace2(folder, false)),
        ),
    ];
    for threads in [1, cores] {
        contenders.extend([
            here(
                format!("ctf-reader, any order, stepping over all, {threads}"),
                None,
                Box::new(move |folder| unordered(folder, threads, false)),
            ),
            here(
                format!("ctf-reader, any order, name and duration, {threads}"),
                Some((FLOOR, 0.9 * threads as f64)),
                Box::new(move |folder| unordered(folder, threads, true)),
            ),
            program(
                &format!("ltt-top top, {threads}"),
                None,
                1,
                Box::new(move |folder| {
                    ltt_top(folder, &["top", "--format=json", "--threads", &threads.to_string()])
                }),
            ),
        ]);
    }
    contenders.extend([1, cores].map(|threads| {
        here(
            format!("ctf-reader, in order, name and duration, {threads}"),
            Some((DUMMY, 12.0)),
            Box::new(move |folder| in_order(folder, threads)),
        )
    }));
    contenders.extend([program(
        "ltt-top events, 1",
        Some((TEXT, 10.0)),
        3,
        Box::new(|folder| ltt_top(folder, &["events"])),
    )]);
    // The events of these traces overlap more than any real thread's, which is the worst case for `incidents`.
    contenders.extend([("incidents", 0.4), ("outliers", 0.5), ("slow", 0.67)].map(|(name, times)| {
        let command = move |folder: &Path| ltt_top(folder, &[name, "--format=json"]);
        program(&format!("ltt-top {name}"), Some((TOP, times)), 3, Box::new(command))
    }));
    let page = concat!(env!("CARGO_TARGET_TMPDIR"), "/reading.html");
    let html = move |folder: &Path| ltt_top(folder, &["html", "--force", "--output", page]);
    contenders.push(program("ltt-top html", Some((INCIDENTS, 0.5)), 3, Box::new(html)));
    contenders
}

impl Contender {
    fn time(&self, folder: &Path, events: u64) -> Duration {
        let start = Instant::now();
        match &self.run {
            Run::Program(command) => assert!(command(folder).status().expect("it is installed").success()),
            Run::Here(read) => assert_eq!(read(folder), events),
        }
        start.elapsed()
    }
}

/// A trace that is written once and kept.
fn trace(name: &str, write: impl FnOnce(&Path)) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("reading-{name}"));
    if !folder.join("metadata").exists() {
        write(&folder);
    }
    folder
}

fn unordered(folder: &Path, threads: usize, wanted: bool) -> u64 {
    let reader = Reader::open(&[folder]).expect("it can be opened").threads(threads);
    let read = reader.read(Window::default(), Totals::new(wanted), &Progress::default());
    assert_eq!(read.collector.events(), if wanted { read.report.events } else { 0 });
    read.report.events
}

fn in_order(folder: &Path, threads: usize) -> u64 {
    let reader = Reader::open(&[folder]).expect("it can be opened").threads(threads);
    let (wanted, fields): (Vec<_>, Vec<_>) =
        reader.classes().map(|class| name_and_duration(class).unzip()).unzip();
    let mut events = reader.in_order(Window::default(), |class| wanted[class.index].clone());
    let (mut count, mut total, mut last) = (0, 0, i64::MIN);
    while let Step::Event(event) = events.next_event() {
        assert!(last <= event.timestamp(), "they are in order");
        last = event.timestamp();
        let Some((name, duration)) = fields[event.class().index] else { continue };
        black_box(event.value(name));
        (count, total) = (count + 1, total + event.value(duration));
    }
    assert!(total > 0);
    count
}

/// The name and the duration of a class's events.
type NameAndDuration = (Field, Field<u64>);

fn name_and_duration(class: &Arc<EventClass>) -> Option<(Wanted, NameAndDuration)> {
    let mut wanted = Wanted::of(class);
    let fields = (wanted.field("name")?, wanted.field("duration")?);
    Some((wanted, fields))
}

/// Sums durations up by name, as the floor does.
struct Totals {
    wanted: bool,
    /// Of each class.
    fields: Vec<Option<NameAndDuration>>,
    /// The events that other collectors summed up.
    absorbed: u64,
    /// A name, how many events there are, and how long they took; there are so few that each has its place to itself.
    table: Vec<(Brief, u64, u64)>,
    briefs: Vec<Brief>,
    durations: Vec<u64>,
}

impl Totals {
    fn new(wanted: bool) -> Totals {
        let table = vec![(Brief::NONE, 0, 0); 256];
        Totals { wanted, fields: Vec::new(), absorbed: 0, table, briefs: Vec::new(), durations: Vec::new() }
    }

    fn events(&self) -> u64 {
        self.absorbed + self.table.iter().map(|(_, count, _)| count).sum::<u64>()
    }
}

impl Collect for Totals {
    type Stop = Infallible;

    fn want(&mut self, class: &Arc<EventClass>) -> Option<Wanted> {
        let (wanted, fields) = name_and_duration(class).filter(|_| self.wanted).unzip();
        self.fields.push(fields);
        wanted
    }

    fn events(&mut self, events: &Events<'_>) -> ControlFlow<Infallible> {
        self.briefs.clear();
        self.durations.clear();
        let Some((name, duration)) = self.fields[events.class] else { return ControlFlow::Continue(()) };
        events.briefs(name, &mut self.briefs);
        events.integers(duration, &mut self.durations);
        for (&name, &duration) in self.briefs.iter().zip(&self.durations) {
            let (known, count, total) = &mut self.table[(name.mix() >> 56) as usize];
            assert!(*count == 0 || *known == name, "two names in one place");
            (*known, *count, *total) = (name, *count + 1, *total + duration);
        }
        ControlFlow::Continue(())
    }

    fn split(&self) -> Totals {
        Totals { fields: self.fields.clone(), ..Totals::new(self.wanted) }
    }

    fn absorb(&mut self, other: Totals) {
        self.absorbed += other.events();
    }
}

fn ltt_top(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ltt-top"));
    command.args(arguments).arg(folder).stdout(Stdio::null());
    command
}

fn babeltrace2(folder: &Path, is_dummy: bool) -> Command {
    let mut command = Command::new("babeltrace2");
    command.arg(folder).args(["--component", "sink.utils.dummy"].iter().filter(|_| is_dummy));
    command.stdout(Stdio::null());
    command
}
