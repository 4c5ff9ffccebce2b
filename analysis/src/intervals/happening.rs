//! What an event says, resolved: all that is left to do is to follow the order of time.

use super::interval::{Interval, IntervalName};
use super::nesting::SpanNumbers;
use super::threads::Thread;
use crate::reading::Passes;
use crate::scheduling::KernelEvent;

/// What happened, in time order. Threads and processes are numbered in the order in which they appear.
///
/// There is one for each event, which goes from one processor to another: it is less than a line of the cache.
#[derive(Clone, Copy, Debug)]
pub enum Happening {
    /// A process of a machine appeared; its name is that of a number.
    Process { host: u32, pid: Option<i64>, name: u32 },
    /// A thread appeared.
    Thread(Thread),
    /// A thread was active.
    Active { thread: u32, time: i64 },
    /// A thread began an interval.
    Began { thread: u32, time: i64, name: IntervalName, client: Option<u32>, passes: Passes },
    /// A thread ended the interval of a kind that it began last. The name and the client are those that the end says.
    Closed {
        thread: u32,
        time: i64,
        kind: u32,
        name: Option<IntervalName>,
        client: Option<u32>,
        passes: Passes,
    },
    /// An interval of a thread has ended.
    Ended { thread: u32, interval: Interval },
    /// What ends next is this span.
    Span(SpanNumbers),
    /// What ends next is a command that holds clients back from then on.
    HoldsBack,
    /// An event reports the total of pieces of its thread's work, which is not an interval.
    Summed { thread: u32, sum: Interval },
    /// The kernel of a machine did something.
    Scheduled { host: u32, time: i64, event: KernelEvent },
}

const _: () = assert!(size_of::<Happening>() <= 48);

/// What happened, with room for more.
#[derive(Debug, Default)]
pub struct Happenings {
    /// The first ones have happened. Others are overwritten, each where it stays: a processor that copies what it has just
    /// written waits for all parts of it.
    list: Vec<Happening>,
    count: usize,
    /// The names of processes that appeared.
    pub names: Vec<Option<String>>,
}

impl Happenings {
    /// Adds what happened.
    #[inline(always)]
    pub fn add(&mut self, happening: Happening) {
        if self.count == self.list.len() {
            self.make_room();
        }
        self.list[self.count] = happening;
        self.count += 1;
    }

    #[cold]
    #[inline(never)]
    fn make_room(&mut self) {
        self.list.resize((2 * self.count).max(16), Happening::HoldsBack);
    }

    /// Adds that a process appeared.
    pub fn add_process(&mut self, host: u32, pid: Option<i64>, name: Option<String>) {
        self.add(Happening::Process { host, pid, name: self.names.len() as u32 });
        self.names.push(name);
    }

    /// All of it, in time order.
    pub fn list(&self) -> &[Happening] {
        &self.list[..self.count]
    }

    /// Forgets all of it.
    pub fn clear(&mut self) {
        self.count = 0;
        self.names.clear();
    }
}

impl Happening {
    /// When it happened; processes, threads and spans are those of what comes next.
    #[inline]
    pub fn time(&self) -> Option<i64> {
        match self {
            Happening::Process { .. } | Happening::Thread(_) | Happening::Span(_) | Happening::HoldsBack => {
                None
            }
            Happening::Active { time, .. }
            | Happening::Began { time, .. }
            | Happening::Closed { time, .. }
            | Happening::Scheduled { time, .. } => Some(*time),
            Happening::Ended { interval, .. } | Happening::Summed { sum: interval, .. } => Some(interval.end),
        }
    }
}
