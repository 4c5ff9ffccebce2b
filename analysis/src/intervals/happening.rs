//! What an event says, resolved: all that is left to do is to follow the order of time.

use super::interval::{Interval, IntervalName};
use super::nesting::SpanNumbers;
use super::threads::Thread;
use crate::reading::Passes;
use crate::scheduling::KernelEvent;

/// What happened, in time order. Threads and processes are numbered in the order in which they appear.
///
/// There is one for each event, which goes from one processor to another: it is less than a line of the cache.
#[derive(Clone, Debug)]
pub enum Happening {
    /// A process of a machine appeared.
    Process { host: u32, pid: Option<i64>, name: Option<String> },
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
