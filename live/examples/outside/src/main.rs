//! Writes the events of a live session as they are recorded, and how the session ended.
//!
//! `cargo run --manifest-path live/examples/outside/Cargo.toml -- net://localhost/host/HOSTNAME/SESSION`

use std::time::Duration;

use ctf_reader::{Step, Window, all_fields};
use lttng_live::{Error, Live, Options, Url};

fn main() -> Result<(), Error> {
    let url: Url = std::env::args().nth(1).unwrap_or_default().parse()?;
    let mut live = Live::start(vec![url], &Options::default());
    let mut events = live.merge(Window::default(), all_fields);
    loop {
        match events.next_event() {
            Step::Event(event) => println!("{} {}", event.timestamp(), event.class().name),
            Step::Wait => live.feed(&mut events, Duration::from_millis(100), |_, _| {}),
            Step::End => break,
        }
    }
    println!("{:?}, {} events", live.statuses()[0].state, events.report().events);
    Ok(())
}
