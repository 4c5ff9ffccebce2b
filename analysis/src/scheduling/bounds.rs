//! Between what the totals of a thread lie at a time, and so how much they rose in a span.

use super::account::Extent;
use crate::finding::Span;

/// The time on a CPU, the time ready for one, and both together; nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadyTimes {
    pub on_cpu: i64,
    pub queued: i64,
    pub both: i64,
}

impl ReadyTimes {
    /// Both, joined total by total.
    pub fn map2(self, other: ReadyTimes, join: impl Fn(i64, i64) -> i64) -> ReadyTimes {
        ReadyTimes {
            on_cpu: join(self.on_cpu, other.on_cpu),
            queued: join(self.queued, other.queued),
            both: join(self.both, other.both),
        }
    }
}

/// The bounds of totals at a time.
pub struct Bounds {
    /// Of its point, if it is one.
    pub place: Option<usize>,
    pub time: i64,
    pub read: ReadyTimes,
    /// By how much they are higher than read, at least and at most.
    pub sure: ReadyTimes,
    pub late: ReadyTimes,
}

impl Bounds {
    /// The bounds at a time between two points: what is late at the later one is the end of one wait, or of one run.
    pub fn between([before, after]: &[Bounds; 2], time: i64) -> Bounds {
        let (since, until) = ((time - before.time).max(0), (after.time - time).max(0));
        let least = before.least().map2(after.least(), |before, after| before.max(after - until));
        let after = after.read.map2(after.late, |read, late| read + (late - until).max(0));
        let most = before.most().map2(after, |before, after| (before + since).min(after));
        Bounds {
            place: None,
            time,
            read: ReadyTimes::default(),
            sure: least,
            late: most.map2(least, i64::max),
        }
    }

    fn least(&self) -> ReadyTimes {
        self.read.map2(self.sure, |read, sure| read + sure)
    }

    fn most(&self) -> ReadyTimes {
        self.read.map2(self.late, |read, late| read + late)
    }

    /// The rise of a total in a span, by what it was near its beginning and near its end: in the time from there to the span it
    /// rose by all of it or not at all. A thread that was ready from one to the other was late by the same.
    pub fn rise(
        begin: &Bounds,
        end: &Bounds,
        was_ready: bool,
        span: Span,
        of: fn(&ReadyTimes) -> i64,
    ) -> Extent {
        let outside = (span.begin_ns - begin.time).max(0) + (end.time - span.end_ns).max(0);
        let unknown = (begin.time - span.begin_ns).max(0) + (span.end_ns - end.time).max(0);
        let rise = match was_ready {
            true => Extent::exactly(of(&end.read) - of(&begin.read)),
            false => Extent {
                least: of(&end.least()) - of(&begin.most()),
                most: of(&end.most()) - of(&begin.least()),
            },
        };
        Extent { least: rise.least - outside, most: rise.most + unknown }
    }
}
