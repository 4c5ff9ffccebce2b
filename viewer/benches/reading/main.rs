//! How fast traces are read: the native source beside a decoder written for this one layout, which is the
//! floor, and Babeltrace 2 with a sink that does nothing, all on one trace.
//!
//! `cargo bench -p ltt-top --bench reading` reads 5,000,000 events; `EVENTS` asks for another number.

use std::collections::HashMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ltt_top::source::discover::discover;
use ltt_top::source::native::Native;
use ltt_top::source::{Collect, Event, EventClass, Progress, Source, Value, Window};

mod floor;
mod synthetic;

/// How often to run each, to take the best.
const RUNS: u32 = 5;

fn main() {
    let events = std::env::var("EVENTS").map_or(5_000_000, |events| events.parse().expect("a number"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("reading-{events}"));
    if !folder.join("metadata").exists() {
        synthetic::write(&folder, events).expect("the trace can be written");
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    println!("{events} events, {} MB, {cores} cores, best of {RUNS} runs", size(&folder) / 1_000_000);

    let babeltrace = babeltrace2(&folder);
    let show = |what: &str, time: Duration| {
        let seconds = time.as_secs_f64();
        let ratio = babeltrace.map(|slow| format!("{:6.1} x babeltrace2", slow.as_secs_f64() / seconds));
        let ratio = ratio.unwrap_or_default();
        println!("{what:32} {:8.3} s {:8.2} M events/s {ratio}", seconds, events as f64 / seconds / 1e6);
    };
    if let Some(time) = babeltrace {
        show("babeltrace2, dummy sink", time);
    }
    let floor = best(|| assert_eq!(floor::read(&folder).values().map(|sum| sum.0).sum::<u64>(), events));
    show("decoder for this layout alone", floor);
    let collectors = [("step over all", false), ("name and duration", true)];
    for threads in [1, cores] {
        for (what, wanted) in collectors {
            let time = best(|| {
                let mut source = Native::open(discover(&[&folder]).unwrap()).unwrap().threads(threads);
                let collector = Totals { wanted, sums: HashMap::new() };
                let (totals, report) =
                    source.read(Window::default(), collector, &Progress::default()).unwrap();
                assert_eq!(report.events, events);
                assert_eq!(
                    totals.sums.values().map(|sum| sum.0).sum::<u64>(),
                    if wanted { events } else { 0 }
                );
            });
            show(&format!("native, {what}, {threads} threads"), time);
            println!(
                "{:32} {:8.0} % of the decoder for this layout",
                "",
                100.0 * floor.as_secs_f64() / time.as_secs_f64()
            );
        }
    }
}

/// Counts and sums durations by name, as a ranking of commands does.
struct Totals {
    wanted: bool,
    sums: HashMap<Vec<u8>, (u64, u64)>,
}

impl Collect for Totals {
    fn want(&mut self, class: &Arc<EventClass>) -> Option<Vec<usize>> {
        self.wanted.then(|| vec![class.field("name").unwrap(), class.field("duration").unwrap()])
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

fn best(mut run: impl FnMut()) -> Duration {
    let times = (0..RUNS).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed()
    });
    times.min().unwrap_or_default()
}

fn babeltrace2(folder: &Path) -> Option<Duration> {
    let mut command = Command::new("babeltrace2");
    command.arg(folder).args(["--component", "sink.utils.dummy"]).stdout(Stdio::null());
    let start = Instant::now();
    let status = command.status().ok()?;
    status.success().then(|| start.elapsed())
}

fn size(folder: &Path) -> u64 {
    let files = folder.read_dir().expect("the folder is there");
    files.map(|file| file.and_then(|file| file.metadata()).expect("a file").len()).sum()
}
