//! A total that is looked at now and then.

use std::collections::VecDeque;

use super::account::Extent;
use crate::finding::Span;
use crate::recent::remember;

/// The most values that are kept.
const MOST: usize = 4096;

/// The values of a total over time; only changes are kept.
#[derive(Debug, Default)]
pub struct Totals(VecDeque<(i64, i64)>);

impl Totals {
    /// Adds what the total is at a time.
    pub fn push(&mut self, time: i64, total: u64) {
        remember(&mut self.0, MOST, (time, i64::try_from(total).unwrap_or(i64::MAX)));
    }

    /// The time of the last value.
    pub fn latest(&self) -> i64 {
        self.0.back().map_or(i64::MIN, |(time, _)| *time)
    }

    /// How much it rose in a span of time: from the last value before it to the first after it, which may be longer.
    pub fn rise(&self, span: Span) -> Option<Extent> {
        let before = self.0.iter().rev().find(|(time, _)| *time <= span.begin_ns)?;
        let after = self.0.iter().find(|(time, _)| *time >= span.end_ns).or(self.0.back())?;
        let outside = (after.0 - before.0 - span.length_ns()).max(0);
        let rise = Extent::exactly((after.1 - before.1).max(0));
        Some(rise.cut(outside, span.length_ns()))
    }
}
