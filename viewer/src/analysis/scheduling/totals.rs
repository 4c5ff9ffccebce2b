//! A total that is looked at now and then.

use std::collections::VecDeque;

use crate::analysis::finding::Span;
use crate::analysis::recent::remember;

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

    /// How much it rose from the last value before a span of time to the first after it; at most all of the span.
    pub fn rise(&self, span: Span) -> Option<i64> {
        let before = self.0.iter().rev().find(|(time, _)| *time <= span.begin_ns)?;
        let after = self.0.iter().find(|(time, _)| *time >= span.end_ns).or(self.0.back())?;
        Some((after.1 - before.1).clamp(0, span.length_ns()))
    }
}
