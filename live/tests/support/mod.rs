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
        let merge = InOrder::new(Vec::new(), Window::default(), all_fields);
        Viewer { live: Live::start(urls, options), merge, seen: Vec::new(), has_ended: false }
    }

    /// Takes what has arrived.
    pub fn take(&mut self) {
        let is_over = self.live.is_over();
        self.live.wait(Duration::from_millis(20));
        for trace in self.live.new_traces() {
            self.merge.add_source(trace.name, trace.source);
        }
        self.merge.look_for_more();
        loop {
            match self.merge.step() {
                Step::Event(event) => {
                    let number = match event.field("duration").or_else(|| event.field("number")) {
                        Some(Value::Unsigned(number)) => number,
                        _ => u64::MAX,
                    };
                    self.seen.push((event.timestamp(), number));
                }
                Step::Wait => break,
                Step::End => {
                    self.has_ended = is_over;
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
