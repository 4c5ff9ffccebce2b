//! Receives sessions as a viewer does, and keeps what it saw.

use std::time::Duration;

use ctf_reader::{InOrder, Report, Step, Value, Window, all_fields};
use lttng_live::{Live, Options, Status, Url};
use lttng_testing::wait_until;

/// A viewer, driven by the test.
pub struct Viewer {
    pub live: Live,
    merge: InOrder<'static>,
    /// The time and the number of each event, in the order in which they came.
    pub seen: Vec<(i64, u64)>,
    pub has_ended: bool,
}

impl Viewer {
    pub fn start(urls: &[&str], options: &Options) -> Viewer {
        let urls: Vec<Url> = urls.iter().map(|url| url.parse().expect("it is an address")).collect();
        let live = Live::start(urls, options);
        let merge = live.merge(Window::default(), all_fields);
        Viewer { live, merge, seen: Vec::new(), has_ended: false }
    }

    /// Takes what has arrived.
    pub fn take(&mut self) {
        self.live.feed(&mut self.merge, Duration::from_millis(20), |_, _| {});
        loop {
            match self.merge.next_event() {
                Step::Event(event) => {
                    let number = match event.field("duration").or_else(|| event.field("number")) {
                        Some(Value::Unsigned(number)) => number,
                        _ => u64::MAX,
                    };
                    self.seen.push((event.timestamp(), number));
                }
                Step::Wait => break,
                Step::End => {
                    self.has_ended = true;
                    break;
                }
            }
        }
    }

    /// Takes what arrives until something holds.
    pub fn until(&mut self, what: &str, mut holds: impl FnMut(&Viewer) -> bool) {
        wait_until(what, || {
            self.take();
            holds(self)
        });
    }

    pub fn status(&self) -> Status {
        self.live.statuses()[0].clone()
    }

    pub fn report(&self) -> Report {
        self.merge.report()
    }
}
