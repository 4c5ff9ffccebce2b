//! How time and memory grow with events, streams and groups, on one thread and on all.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use lttng_testing::Table;

use super::{ltt_top, synthetic, trace};

/// The best of this number of runs counts.
const RUNS: u32 = 3;

/// What is run, by its arguments. Groups are those of clients; `incidents` and `events` read their names, too.
const READINGS: [&str; 6] = [
    "top --by client --threads 1",
    "top --by client",
    "incidents --threads 1",
    "incidents",
    "outliers --by client",
    "events",
];

/// The size of a trace.
#[derive(Clone, Copy)]
struct Size {
    events: u64,
    streams: u64,
    clients: u64,
}

/// What grows: its name, the sizes, and which number of each.
type Axis = (&'static str, Vec<Size>, fn(&Size) -> u64);

/// A table for each thing that grows, with at most this number of events.
pub fn tables(most: u64) -> Vec<Table> {
    let of_events = [100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000];
    let fewer = most.min(5_000_000);
    let events = of_events.into_iter().filter(|events| *events <= most);
    let streams = [1, 8, 64, 512, 4096].map(|streams| Size { events: fewer, streams, clients: 50 });
    let groups = [1, 100, 10_000, 1_000_000].map(|clients| Size { events: fewer, streams: 2, clients });
    let axes: [Axis; 3] = [
        ("events", events.map(|events| Size { events, streams: 2, clients: 50 }).collect(), |size| {
            size.events
        }),
        ("streams", streams.to_vec(), |size| size.streams),
        ("groups", groups.to_vec(), |size| size.clients),
    ];
    axes.into_iter().map(grown).collect()
}

/// Seconds and megabytes of each reading by size, and how steeply the time of the largest grows: by which power of the size.
fn grown((axis, sizes, number): Axis) -> Table {
    let columns: Vec<&str> = [axis].into_iter().chain(READINGS).collect();
    let mut table = Table::new("Seconds, MB of memory, and the power by which the time grew", &columns);
    let mut last: Option<(f64, Vec<f64>)> = None;
    for size in &sizes {
        let Size { events, streams, clients } = *size;
        let folder = trace(&format!("growth-{events}-{streams}-{clients}"), |folder| {
            synthetic::write_of(folder, events, streams, clients).expect("it can be written");
        });
        let costs = READINGS.map(|reading| {
            let arguments: Vec<&str> = reading.split(' ').collect();
            (0..RUNS).map(|_| cost(ltt_top(&folder, &arguments))).min().expect("there are runs")
        });
        let seconds: Vec<f64> = costs.iter().map(|(time, _)| time.as_secs_f64()).collect();
        let mut row = vec![number(size).to_string()];
        for (place, (seconds, (_, peak))) in seconds.iter().zip(&costs).enumerate() {
            let power = last.as_ref().map_or(String::new(), |(before, times)| {
                let power = (seconds / times[place]).ln() / (number(size) as f64 / before).ln();
                format!(", {power:.2}")
            });
            row.push(format!("{seconds:.3}, {:.0}{power}", *peak as f64 / 1e3));
        }
        table.row(row);
        last = Some((number(size) as f64, seconds));
        fs::remove_dir_all(&folder).expect("it can be removed");
    }
    table
}

/// How long a program runs, and the most memory that it has, in kB, as far as looking again and again tells.
fn cost(mut command: Command) -> (Duration, u64) {
    let start = Instant::now();
    let mut process = command.spawn().expect("it is installed");
    let mut peak = 0;
    while process.try_wait().expect("it can be waited for").is_none() {
        let status = fs::read_to_string(format!("/proc/{}/status", process.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
        peak = peak.max(line.trim().trim_end_matches(" kB").parse().unwrap_or(0));
        std::thread::sleep(Duration::from_millis(1));
    }
    (start.elapsed(), peak)
}
