//! A group of events and its figures.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Serialize, Serializer};

use crate::datum::Datum;
use crate::durations::histogram::{Histogram, IMPLAUSIBLE};
use crate::groups::long_ones::LongOnes;
use crate::groups::quantile::Quantile;
use crate::reading::{EventKind, key};

/// A group and its figures.
#[derive(Clone, Debug)]
pub struct Group {
    /// The event, and what the keys are called.
    pub kind: Arc<EventKind>,
    /// The keys as bytes, which order and identify groups.
    pub(crate) key_bytes: Box<[u8]>,
    /// Its figures.
    pub figures: Figures,
}

/// The figures of a group.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// The number of events without a duration.
    pub untimed: u64,
    /// The number of events with an implausible duration, which is in no other figure.
    pub implausible: u64,
    /// The plausible durations, in the kind's unit.
    pub durations: Histogram,
}

/// The total of groups that are not kept separately.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folded {
    /// All events.
    pub count: u64,
    /// Those whose duration is implausible.
    pub implausible: u64,
    /// The plausible durations together.
    pub total_ns: u128,
    /// The longest of them.
    pub max_ns: u128,
}

/// The figure that groups are ranked by, the largest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// The sum of the durations.
    #[default]
    Total,
    /// A percentile.
    Percentile(Quantile),
    /// The longest duration.
    Max,
    /// The mean duration.
    Mean,
    /// The number of events.
    Count,
}

/// The name on the command line: `total`, `p99.9`.
impl fmt::Display for Sort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sort::Total => f.write_str("total"),
            Sort::Percentile(quantile) => write!(f, "p{quantile}"),
            Sort::Max => f.write_str("max"),
            Sort::Mean => f.write_str("mean"),
            Sort::Count => f.write_str("count"),
        }
    }
}

impl FromStr for Sort {
    type Err = String;

    fn from_str(text: &str) -> Result<Sort, String> {
        match text {
            "total" => Ok(Sort::Total),
            "max" => Ok(Sort::Max),
            "mean" => Ok(Sort::Mean),
            "count" => Ok(Sort::Count),
            _ => {
                let quantile = text.strip_prefix('p').and_then(|percentage| percentage.parse().ok());
                let refused = || "write total, count, mean, max or a percentile such as p99.9".to_owned();
                quantile.map(Sort::Percentile).ok_or_else(refused)
            }
        }
    }
}

impl Serialize for Sort {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Group {
    /// The keys.
    pub fn key(&self) -> Vec<Datum> {
        key::decode(&self.key_bytes)
    }

    /// Whether it has plausible durations.
    pub fn is_timed(&self) -> bool {
        self.figures.durations.count() > 0
    }

    /// The sum of the durations in nanoseconds.
    pub fn total_ns(&self) -> u128 {
        self.figures.durations.total() * self.kind.unit_ns()
    }

    /// The mean duration in nanoseconds.
    pub fn mean_ns(&self) -> Option<f64> {
        self.figures.durations.mean().map(|mean| mean * self.kind.unit_ns() as f64)
    }

    /// A percentile in nanoseconds.
    pub fn percentile_ns(&self, quantile: Quantile) -> Option<u128> {
        self.figures.durations.percentile(quantile).map(|ticks| self.kind.ns(ticks))
    }

    /// The longest duration in nanoseconds.
    pub fn max_ns(&self) -> Option<u128> {
        self.figures.durations.max().map(|ticks| self.kind.ns(ticks))
    }

    pub(crate) fn weight(&self, sort: Sort) -> Option<u128> {
        match sort {
            Sort::Total => Some(self.total_ns()),
            Sort::Percentile(quantile) => self.percentile_ns(quantile),
            Sort::Max => self.max_ns(),
            // Whole nanoseconds times 1,000: finer than any two means that matter.
            Sort::Mean => self.mean_ns().map(|mean| (mean * 1000.0) as u128),
            Sort::Count => Some(self.figures.count().into()),
        }
    }
}

/// The longest events of a kind, of which a later reading may look at all.
pub(crate) type LongOfKind = LongOnes<32>;

/// What a reading aggregates for each group besides its figures.
pub(crate) trait Extra: Clone + fmt::Debug + Default + Send {
    /// What all groups of a reading have in common.
    type Context: Copy + fmt::Debug + Send + Sync;

    /// What events that count alike have in common.
    type Moment: Copy;

    /// Whether it depends on when events happened.
    const IS_TIMED: bool = true;

    /// Adapts what all groups have in common to the number of groups.
    fn adapt(_: &mut Self::Context, _groups: usize) {}

    /// Whether it says which events a later reading [looks at](Extra::looks_at).
    const LOOKS_AHEAD: bool = false;

    /// Whether a later reading looks at an event of the group that took this long.
    fn looks_at(&mut self, _: &mut LongOfKind, _ticks: u64, _time: i64) -> bool {
        false
    }

    /// All events have come.
    fn looked_at(&mut self, _: LongOfKind) {}

    /// A time until which events count as those at another time do, which is not after it.
    fn alike_until(time: i64, context: &Self::Context) -> i64;

    /// What events at a time have in common, if it is [timed](Extra::IS_TIMED).
    fn moment(time: i64, context: &Self::Context) -> Self::Moment;

    /// Adds an event.
    fn take(&mut self, duration: Option<u64>, moment: Self::Moment, context: &Self::Context);

    /// Adds equal durations, which are plausible.
    fn take_many(&mut self, ticks: u64, count: u64, moment: Self::Moment, context: &Self::Context);

    /// Adds what another part of the reading aggregated.
    fn absorb(&mut self, other: Self);

    /// Completes it, when all is read. If it is [timed](Extra::IS_TIMED), several threads do that.
    fn finish(&mut self, _: &Self::Context) {}
}

/// Figures alone.
impl Extra for () {
    type Context = ();
    type Moment = ();

    const IS_TIMED: bool = false;

    fn alike_until(_: i64, (): &()) -> i64 {
        i64::MAX
    }

    fn moment(_: i64, (): &()) {}

    #[inline]
    fn take(&mut self, _: Option<u64>, (): (), (): &()) {}

    fn take_many(&mut self, _: u64, _: u64, (): (), (): &()) {}

    fn absorb(&mut self, (): ()) {}
}

impl Figures {
    /// The number of events.
    pub fn count(&self) -> u64 {
        self.untimed + self.implausible + self.durations.count()
    }

    #[inline]
    pub(crate) fn record(&mut self, duration: Option<u64>) {
        match duration {
            Some(ticks) if ticks < IMPLAUSIBLE => self.durations.record(ticks),
            Some(_) => self.implausible += 1,
            None => self.untimed += 1,
        }
    }

    /// Adds equal durations, which must be below [`IMPLAUSIBLE`].
    pub(crate) fn record_many(&mut self, ticks: u64, count: u64) {
        self.durations.record_many(ticks, count);
    }

    pub(crate) fn merge(&mut self, other: &Figures) {
        self.untimed += other.untimed;
        self.implausible += other.implausible;
        self.durations.merge(&other.durations);
    }
}

impl Folded {
    pub(crate) fn add(&mut self, figures: &Figures, unit_ns: u128) {
        self.absorb(&Folded {
            count: figures.count(),
            implausible: figures.implausible,
            total_ns: figures.durations.total() * unit_ns,
            max_ns: u128::from(figures.durations.max().unwrap_or(0)) * unit_ns,
        });
    }

    pub(crate) fn absorb(&mut self, other: &Folded) {
        self.count += other.count;
        self.implausible += other.implausible;
        self.total_ns += other.total_ns;
        self.max_ns = self.max_ns.max(other.max_ns);
    }
}
