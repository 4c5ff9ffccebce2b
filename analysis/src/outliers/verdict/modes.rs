//! Slow modes as findings.

use std::borrow::Cow;
use std::sync::Arc;

use super::findings::{Basis, Mode};
use super::periods::short;
use super::series::Series;
use super::split::{Cluster, Split};
use crate::durations::histogram::Histogram;
use crate::finding::{GroupName, Ns};
use crate::groups::group::Figures;
use crate::reading::selection::EventKind;
use crate::text::amount::{counted, grouped, share};

/// The data of a group.
#[derive(Clone, Debug)]
pub(super) struct Evidence<'s> {
    pub kind: Arc<EventKind>,
    pub key: Box<[u8]>,
    /// The keys of all that are in the group; several where processes are together after all.
    pub members: Vec<Box<[u8]>>,
    pub name: GroupName,
    pub figures: Cow<'s, Figures>,
    pub series: Cow<'s, Series>,
}

impl<'s> Evidence<'s> {
    pub fn new(
        kind: &Arc<EventKind>,
        key: Box<[u8]>,
        name: GroupName,
        figures: Cow<'s, Figures>,
        series: Cow<'s, Series>,
    ) -> Self {
        Evidence { kind: Arc::clone(kind), members: vec![key.clone()], key, name, figures, series }
    }

    pub fn durations(&self) -> &Histogram {
        &self.figures.durations
    }

    /// How many durations are above a limit.
    pub fn above(&self, limit: u64) -> u64 {
        let buckets = self.durations().buckets();
        buckets.iter().filter(|bucket| bucket.low > limit).map(|bucket| bucket.count).sum()
    }

    /// The durations in a range.
    fn cluster(&self, above: u64, up_to: u64) -> Cluster {
        let mut part = Histogram::default();
        let mut total = 0;
        for bucket in self.durations().buckets() {
            if bucket.low > above && bucket.low <= up_to {
                let typical = bucket.low + (bucket.high - bucket.low).div_ceil(2);
                part.record_many(typical, bucket.count);
                total += u128::from(typical) * u128::from(bucket.count);
            }
        }
        Cluster {
            low: part.min().unwrap_or(0),
            high: part.max().unwrap_or(0),
            count: part.count(),
            median: part.at_rank(part.count().div_ceil(2)).unwrap_or(0),
            total,
            is_tail: false,
        }
    }
}

/// The time of the bins that have durations in a range: nanoseconds since 1970.
pub(super) fn mode_span(group: &Evidence<'_>, low: u64, high: u64) -> (i64, i64) {
    let is_inside = |mean: f64| (low as f64 * 0.99..=high as f64 * 1.01).contains(&mean);
    let cells = group.series.cells().iter().filter(|cell| is_inside(cell.sum as f64 / cell.count as f64));
    let bins = || cells.clone().map(|cell| cell.bin());
    let (Some(first), Some(last)) = (bins().min(), bins().max()) else { return (0, 0) };
    (group.series.begin(first), group.series.begin(last + 1))
}

/// A mode of a group, by its own durations.
pub(super) fn mode(group: &Evidence<'_>, split: &Split, cluster: &Cluster) -> Mode {
    let times = mode_span(group, cluster.low, cluster.high);
    finding(&group.kind, group.name.clone(), (cluster, group.durations().count()), split, Basis::Own, times)
}

/// A group that is a mode of its event, between the event's limit and another limit.
pub(super) fn event_mode(group: &Evidence<'_>, event: &Split, up_to: u64) -> Mode {
    let cluster = group.cluster(event.above, up_to);
    let times = mode_span(group, cluster.low, cluster.high);
    finding(
        &group.kind,
        group.name.clone(),
        (&cluster, group.durations().count()),
        event,
        Basis::Event,
        times,
    )
}

/// All slow events in groups of an event that are too rare to be judged and too many to be listed.
pub(super) fn rare_mode(groups: &[&Evidence<'_>], event: &Split) -> Mode {
    let kind = &groups[0].kind;
    let name = GroupName::new(kind, Vec::new());
    let mut all = Evidence::new(kind, Box::default(), name, Cow::default(), Cow::default());
    let (mut begin, mut end) = (i64::MAX, i64::MIN);
    for group in groups {
        all.figures.to_mut().durations.merge(group.durations());
        if group.above(event.above) > 0 {
            let (first, last) = mode_span(group, event.above, u64::MAX);
            (begin, end) = (begin.min(first), end.max(last));
        }
    }
    let cluster = all.cluster(event.above, u64::MAX);
    finding(kind, all.name.clone(), (&cluster, all.durations().count()), event, Basis::Event, (begin, end))
}

fn finding(
    kind: &EventKind,
    name: GroupName,
    (cluster, all): (&Cluster, u64),
    split: &Split,
    rule: Basis,
    (begin_ns, end_ns): (i64, i64),
) -> Mode {
    let usual = u128::from(cluster.count) * u128::from(split.median);
    let mut mode = Mode {
        group: usize::MAX,
        count: cluster.count,
        share: cluster.count as f64 / all.max(1) as f64,
        from: Ns(kind.ns(cluster.low)),
        typical: Ns(kind.ns(cluster.median)),
        to: Ns(kind.ns(cluster.high)),
        total: Ns(cluster.total * kind.unit_ns()),
        is_tail: cluster.is_tail,
        lost: Ns(cluster.total.saturating_sub(usual) * kind.unit_ns()),
        rule,
        usual: Ns(kind.ns(split.median)),
        usual_p99: Ns(kind.ns(split.p99)),
        // A clock that counts whole units gives 0 for anything below one.
        times_usual: cluster.median as f64 / split.median.max(1) as f64,
        limit: Ns(kind.ns(split.above)),
        begin_ns,
        end_ns,
        reason: String::new(),
        name,
    };
    mode.reason = reason(&mode);
    mode
}

/// A number in three digits.
fn rounded(number: f64) -> u128 {
    let scale = 10_f64.powi((number.max(1.0).log10().floor() as i32 - 2).max(0));
    ((number / scale).round() * scale) as u128
}

/// Why a mode is shown, e.g. `1,000 calls, 1%, around 100 ms, 50,000 times the usual; 100 s in all`.
fn reason(mode: &Mode) -> String {
    let usual = match mode.rule {
        Basis::Event => {
            format!("usual for {}", short(&GroupName { key: Default::default(), ..mode.name.clone() }))
        }
        Basis::Own | Basis::Threshold => "usual".to_owned(),
    };
    let range = match mode.is_tail {
        true => [mode.from, mode.to].map(Ns::in_words).join(" to "),
        false => format!("around {}", mode.typical.in_words()),
    };
    format!(
        "{}, {}, {range}, {} times the {usual}; {} in all within {}",
        counted(mode.count, "call"),
        if mode.share >= 1.0 { "all".into() } else { share(mode.share) },
        grouped(rounded(mode.times_usual)),
        mode.total.in_words(),
        Ns::from(mode.end_ns.abs_diff(mode.begin_ns)).in_words(),
    )
}
