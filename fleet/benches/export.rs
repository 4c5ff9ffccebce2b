//! How fast traces become Parquet, and how large: `ltt-parquet` beside a script over Babeltrace 2's Python bindings and pyarrow.
//!
//! `cargo bench -p ltt-parquet` exports 5,000,000 synthetic `command_call` events, of one host and of two; `EVENTS` asks for another
//! number. The script takes a twentieth of them. On a busy machine, compare processor time. Nothing fails on a figure.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use lttng_testing::{Table, workspace};

#[path = "../../viewer/benches/reading/synthetic.rs"]
mod synthetic;

/// The best of this number of rounds counts.
const ROUNDS: usize = 5;

fn main() {
    let events: u64 = std::env::var("EVENTS").map_or(5_000_000, |events| events.parse().expect("a number"));
    let columns =
        ["exporter", "hosts", "threads", "seconds", "M events/s", "processor s", "bytes/event", "target"];
    let mut table = Table::new(&format!("Export of {events} command_call events to Parquet"), &columns);
    let mut fastest = [f64::INFINITY; 2];
    for (hosts, threads) in [(1, 1), (1, 2), (2, 2)] {
        let traces: Vec<PathBuf> = (0..hosts).map(|host| trace(events / hosts, host)).collect();
        let output = folder(&format!("tables-{hosts}"));
        let export = || {
            // What was exported is not exported again.
            _ = std::fs::remove_dir_all(&output);
            let mut command = Command::new(env!("CARGO_BIN_EXE_ltt-parquet"));
            command.args(["--threads", &threads.to_string(), "--output"]).arg(&output).args(&traces);
            command.stderr(Stdio::null());
            command
        };
        let best = |best: [f64; 2], took: [f64; 2]| [best[0].min(took[0]), best[1].min(took[1])];
        let seconds = (0..ROUNDS).map(|_| time(export())).fold([f64::INFINITY; 2], best);
        fastest = best(fastest, seconds.map(|seconds| seconds / events as f64));
        let target = if threads == 2 { "3 M events/s, 12 bytes" } else { "" };
        table.row(row(
            "ltt-parquet",
            (hosts, threads),
            seconds,
            events,
            size(&output.join("events")),
            target,
        ));
    }
    let fewer = (events / 20).max(1);
    let (trace, file) = (trace(fewer, 0), folder("babeltrace.parquet"));
    let python = workspace().join("target/python-bt2/bin/python");
    let mut script = Command::new(&python);
    script.arg(workspace().join("fleet/benches/babeltrace.py")).arg(&trace).arg(&file);
    if python.exists() {
        let seconds = time(script);
        let slower = |what: usize| seconds[what] / fewer as f64 / fastest[what];
        let target = format!("1/20 of it; here 1/{:.0}, in processor time 1/{:.0}", slower(0), slower(1));
        table.row(row("Babeltrace 2, Python, pyarrow", (1, 1), seconds, fewer, size(&file), &target));
    }
    println!("{table}");
    if !python.exists() {
        println!("without Babeltrace 2's bindings: fleet/benches/babeltrace.py says how to get them");
    }
}

fn row(
    what: &str,
    (hosts, threads): (u64, u64),
    took: [f64; 2],
    events: u64,
    bytes: u64,
    target: &str,
) -> [String; 8] {
    let [seconds, processor] = took;
    [
        what.to_owned(),
        hosts.to_string(),
        threads.to_string(),
        format!("{seconds:.2}"),
        format!("{:.2}", events as f64 / seconds / 1e6),
        format!("{processor:.2}"),
        format!("{:.1}", bytes as f64 / events as f64),
        target.to_owned(),
    ]
}

/// How long a program takes, and how much processor time, in seconds.
fn time(mut command: Command) -> [f64; 2] {
    let (start, before) = (Instant::now(), processor_time_of_children());
    assert!(command.status().expect("it runs").success(), "{command:?}");
    [start.elapsed().as_secs_f64(), processor_time_of_children() - before]
}

/// The processor time of the programs that have ended, in seconds.
fn processor_time_of_children() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("this is Linux");
    let fields = stat.rsplit(')').next().expect("it has fields").split_whitespace();
    // Clock ticks of 10 ms, in user mode and in the kernel.
    fields.skip(13).take(2).map(|ticks| ticks.parse::<f64>().expect("a number") / 100.0).sum()
}

/// A trace of a host, which is written once and kept.
fn trace(events: u64, host: u64) -> PathBuf {
    let folder = folder(&format!("trace-{events}{}", ["", "-b"][host as usize]));
    if !folder.join("metadata").exists() {
        synthetic::write(&folder, events, 2).expect("it can be written");
        if host > 0 {
            rename(&folder);
        }
    }
    folder
}

/// Makes a trace another host's, by its name and UUID.
fn rename(folder: &Path) {
    let metadata = folder.join("metadata");
    let text = std::fs::read_to_string(&metadata).expect("it was written");
    let uuid = text.split("uuid = \"").nth(1).and_then(|rest| rest.split('"').next()).expect("it has one");
    let first = if uuid.starts_with('f') { "e" } else { "f" };
    let text = text.replace(uuid, &format!("{first}{}", &uuid[1..])).replace("\"synthetic\"", "\"other\"");
    std::fs::write(metadata, text).expect("it can be written");
    let first = u8::from_str_radix(&format!("{first}{}", &uuid[1..2]), 16).expect("two digits");
    for stream in ["ch_0", "ch_1"] {
        let mut bytes = std::fs::read(folder.join(stream)).expect("it was written");
        // Packets begin at whole pages, with a magic number, followed by the UUID.
        for page in bytes.chunks_mut(4096).filter(|page| page.starts_with(&0xC1FC_1FC1_u32.to_le_bytes())) {
            page[4] = first;
        }
        std::fs::write(folder.join(stream), bytes).expect("it can be written");
    }
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("export-{name}"))
}

/// The size of a file, or of all files below a folder.
fn size(path: &Path) -> u64 {
    match path.read_dir() {
        Ok(entries) => entries.flatten().map(|entry| size(&entry.path())).sum(),
        Err(_) => path.metadata().map_or(0, |file| file.len()),
    }
}
