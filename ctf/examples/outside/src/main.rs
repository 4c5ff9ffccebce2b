//! For each host of a trace: the number of events, and the longest time in which nothing happened.
//!
//! `cargo run --manifest-path ctf/examples/outside/Cargo.toml -- FOLDER…`

use std::collections::BTreeMap;
use std::process::ExitCode;

use ctf_reader::{Reader, Step, Value, Wanted, Window};

#[derive(Default)]
struct Host {
    events: u64,
    last: Option<i64>,
    gap: i64,
    before_gap: String,
}

fn main() -> ExitCode {
    let folders: Vec<String> = std::env::args().skip(1).collect();
    let reader = match Reader::open(&folders) {
        Ok(reader) => reader,
        Err(error) => {
            eprintln!("longest-gap: {error}");
            return ExitCode::FAILURE;
        }
    };
    // Only one field is decoded; classes without it are read too.
    let mut events = reader.in_order(Window::default(), |class| {
        let mut wanted = Wanted::of(class);
        wanted.field::<[u8]>("hostname");
        Some(wanted)
    });
    let mut hosts: BTreeMap<String, Host> = BTreeMap::new();
    while let Step::Event(event) = events.next_event() {
        let name = match event.field("hostname") {
            Some(Value::Text(name)) => String::from_utf8_lossy(name).into_owned(),
            _ => "?".into(),
        };
        let host = hosts.entry(name).or_default();
        host.events += 1;
        let gap = event.timestamp() - host.last.unwrap_or(event.timestamp());
        if gap > host.gap {
            host.gap = gap;
            host.before_gap = event.class().name.clone();
        }
        host.last = Some(event.timestamp());
    }
    for (name, Host { events, gap, before_gap, .. }) in &hosts {
        println!("{name}: {events} events, nothing for {gap} ns before {before_gap}");
    }
    let report = events.report();
    for damage in &report.damage {
        eprintln!("longest-gap: left out: {damage}");
    }
    if report.damage.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
