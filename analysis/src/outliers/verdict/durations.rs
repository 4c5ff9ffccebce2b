//! Durations in memory, judged as those of a trace are.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use super::judge::{Judged, judge_all};
use super::limits::Limit;
use super::modes::Evidence;
use super::rule::Rule;
use super::series::{Resolution, Series};
use crate::durations::histogram::Histogram;
use crate::finding::{GroupName, Span};
use crate::groups::{Extra, Figures, Pools};
use crate::reading::{EventKind, key};
use crate::unit::TimeUnit;

/// Durations of a group with their times, in memory.
///
/// ```
/// use ltt_analysis::outliers::{Durations, Rule, judge};
/// use ltt_analysis::unit::TimeUnit;
///
/// let mut gets = Durations::new("app:request", "get", TimeUnit::Microseconds);
/// for n in 0..100_000 {
///     let duration = if n % 1000 == 0 { 100_000 } else { n % 3 };
///     gets.record(n as i64 * 10_000, duration);
/// }
/// let judged = judge(&[gets], &Rule::default());
/// assert_eq!(judged.modes[0].count, 100);
/// assert!(judged.modes[0].reason.starts_with("100 calls, 0.1%, around 100 ms"));
/// ```
#[derive(Clone, Debug)]
pub struct Durations {
    kind: Arc<EventKind>,
    key: Box<[u8]>,
    figures: Figures,
    series: Series,
    resolution: Resolution,
    span: Option<Span>,
}

impl Durations {
    /// No durations yet, of the group `name` of an event.
    pub fn new(event: &str, name: &str, unit: TimeUnit) -> Self {
        let kind = EventKind {
            event: event.into(),
            keys: vec!["name".into()],
            unit: Some(unit),
            unit_is_guess: false,
            is_sum: false,
        };
        let mut key = Vec::new();
        key::encode(&ctf_reader::Value::Text(name.as_bytes()), &mut key);
        Durations {
            kind: Arc::new(kind),
            key: key.into(),
            figures: Figures::default(),
            series: Series::default(),
            resolution: Resolution::new(0),
            span: None,
        }
    }

    /// Adds a duration of an event that ended at a time in nanoseconds.
    pub fn record(&mut self, time_ns: i64, ticks: u64) {
        self.figures.record(Some(ticks));
        self.series.record_many(time_ns, ticks, 1, self.resolution);
        let span = self.span.get_or_insert(Span { begin_ns: time_ns, end_ns: time_ns });
        (span.begin_ns, span.end_ns) = (span.begin_ns.min(time_ns), span.end_ns.max(time_ns));
    }

    /// The limit of this group in a verdict.
    pub fn limit<'j>(&self, judged: &'j Judged) -> Option<&'j Limit> {
        judged.limits.of(judged.limits.kind_number(&self.kind)?, &self.key)
    }
}

/// Judges durations in memory, as those of a trace are judged.
pub fn judge(durations: &[Durations], rule: &Rule) -> Judged {
    let mut pools: HashMap<Arc<EventKind>, Histogram> = HashMap::new();
    let mut resolution = Resolution::new(0);
    Series::adapt(&mut resolution, durations.len());
    let evidence: Vec<Evidence<'_>> = durations
        .iter()
        .map(|group| {
            let mut series = group.series.clone();
            series.finish(&resolution);
            pools.entry(Arc::clone(&group.kind)).or_default().merge(&group.figures.durations);
            let name = GroupName::new(&group.kind, key::decode(&group.key));
            Evidence::new(
                &group.kind,
                group.key.clone(),
                name,
                Cow::Borrowed(&group.figures),
                Cow::Owned(series),
            )
        })
        .collect();
    let mut pools: Pools = pools.into_iter().collect();
    pools.sort_by(|(one, _), (other, _)| one.cmp(other));
    let spans = || durations.iter().filter_map(|group| group.span);
    let span = Span {
        begin_ns: spans().map(|span| span.begin_ns).min().unwrap_or(0),
        end_ns: spans().map(|span| span.end_ns).max().unwrap_or(0),
    };
    judge_all(&evidence, &pools, rule, span)
}
