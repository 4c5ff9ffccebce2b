//! Slow periods of a trace: times in which groups were slower, joined over groups and over time.

use std::ops::Range;

use super::changes::changes;
use super::drift::{Trend, trend};
use super::findings::{Drift, Period, PeriodKind, Shift};
use super::prefix_sums::{Bin, PrefixSums, bins};
use super::rule::SHIFT;
use super::series::{Cell, Series};
use crate::durations::octave::{OCTAVES, octave_of};
use crate::finding::Span;
use crate::finding::{GroupName, Ns, group_in_words};
use crate::intervals::total;
use crate::parallel::in_parallel;
use crate::text::amount::{counted, duration_in_words, scaled};

/// A group over time.
pub(super) struct GroupCourse<'a> {
    name: &'a GroupName,
    series: &'a Series,
    bins: Vec<Bin>,
    /// The number and the sum of the durations in all bins before each, so that no time is added up bin by bin.
    counts: Vec<f64>,
    sums: Vec<f64>,
    /// The number of durations that count, by octave.
    octaves: [f64; OCTAVES],
    unit_ns: f64,
    /// The durations that count are not above this.
    above: u64,
    /// When it was slower.
    spans: Vec<Span>,
    /// Whether its level rose steadily.
    trend: Option<Trend>,
}

/// The most groups and spans that a period names.
const NAMED: usize = 20;
/// The number of events in a time that a group needs to be judged.
const TELLING: f64 = 20.0;
/// Groups are slower alike if their factors are within this of each other.
const ALIKE: f64 = 3.0;
/// Rates that differ by less than this are the same.
const SAME_RATE: f64 = 0.1;
/// If the whole group is slower, so are most of its events.
const MOST: f64 = 0.7;

impl<'a> GroupCourse<'a> {
    pub fn new(name: &'a GroupName, series: &'a Series, above: u64, unit_ns: u128, probability: f64) -> Self {
        let bins = bins(series, above);
        let course = PrefixSums::new(&bins);
        let spans = changes(&course, probability, SHIFT);
        let trend = trend(&course, probability);
        let span = |range: &Range<usize>| Span {
            begin_ns: series.begin(bins[range.start].number),
            end_ns: series.begin(bins[range.end - 1].number + 1),
        };
        let spans = spans.iter().map(span).collect();
        let PrefixSums { counts, sums, .. } = course;
        let octaves = by_octave(series.cells(), above);
        GroupCourse {
            name,
            series,
            bins,
            counts,
            sums,
            octaves,
            unit_ns: unit_ns as f64,
            above,
            spans,
            trend,
        }
    }

    /// The drift of its level, as a finding.
    pub fn drift(&self) -> Option<Drift> {
        let Trend { factor, first, last } = self.trend.as_ref()?;
        let [all, first, last] = [0..self.bins.len(), first.clone(), last.clone()].map(|range| {
            let mut totals = BinTotals::default();
            self.bins[range].iter().for_each(|bin| {
                totals.count += bin.count;
                totals.sum += bin.sum * self.unit_ns;
            });
            totals
        });
        let [mean_first, mean_last] = [first, last].map(|part| part.sum / part.count);
        let begin_ns = self.series.begin(self.bins.first()?.number);
        let end_ns = self.series.begin(self.bins.last()?.number + 1);
        let name = self.name.clone();
        let reason = format!(
            "{} level rose by a factor of {factor:.1} over {}, steadily: mean {} in the first quarter, {} in the last",
            short(&name),
            Ns::from(end_ns.abs_diff(begin_ns)).in_words(),
            duration_in_words(mean_first),
            duration_in_words(mean_last),
        );
        Some(Drift {
            name,
            count: all.count as u64,
            factor: *factor,
            mean_first_us: mean_first / 1000.0,
            mean_last_us: mean_last / 1000.0,
            lost: Ns((all.sum - all.count * mean_first).max(0.0) as u128),
            begin_ns,
            end_ns,
            reason,
        })
    }

    /// Whether most of a time was slower.
    pub fn covers(&self, begin_ns: i64, end_ns: i64) -> bool {
        let time = Span { begin_ns, end_ns };
        self.spans.iter().any(|span| span.overlap_ns(time).saturating_mul(2) > time.length_ns())
    }

    /// The middle of a bin, by its number.
    fn middle(&self, number: u64) -> i64 {
        self.series.begin(number).saturating_add_unsigned(self.series.width_ns() / 2)
    }

    /// Where those that are in a span are in a list in the order of bins. A bin is where its middle is.
    fn range<T>(&self, list: &[T], bin: impl Fn(&T) -> u64, span: Span) -> Range<usize> {
        let begin = list.partition_point(|item| self.middle(bin(item)) < span.begin_ns);
        let end = list.partition_point(|item| self.middle(bin(item)) < span.end_ns);
        begin..end.max(begin)
    }

    /// What the events in some spans, which do not overlap, and those outside of them add up to.
    fn sums(&self, spans: &[Span]) -> [BinTotals; 2] {
        let of = |Range { start, end }: Range<usize>| BinTotals {
            count: self.counts[end] - self.counts[start],
            sum: (self.sums[end] - self.sums[start]) * self.unit_ns,
        };
        let mut inside = BinTotals::default();
        for span in spans {
            let part = of(self.range(&self.bins, |bin| bin.number, *span));
            inside.count += part.count;
            inside.sum += part.sum;
        }
        let all = of(0..self.bins.len());
        [inside, BinTotals { count: all.count - inside.count, sum: all.sum - inside.sum }]
    }

    /// The cells in some spans, which do not overlap.
    fn cells_in(&self, spans: &[Span]) -> impl Iterator<Item = &'a [Cell]> {
        let cells = self.series.cells();
        spans.iter().map(move |span| &cells[self.range(cells, Cell::bin, *span)])
    }

    /// How it differs in some spans, with what the events in them and the others add up to.
    fn shift(&self, spans: &[Span], sums: [BinTotals; 2]) -> Option<Shift> {
        let lost = lost(sums)?;
        let [during, before] = sums.map(BinTotals::mean);
        Some(Shift {
            name: self.name.clone(),
            count: sums[0].count as u64,
            mean_before_us: before / 1000.0,
            mean_during_us: during / 1000.0,
            factor: during / before.max(1.0),
            slower_share: self.slower_share(spans),
            lost,
        })
    }

    /// The share of the events in some spans that are in a higher octave than the median of those outside.
    fn slower_share(&self, spans: &[Span]) -> f64 {
        let mut inside = [0.0; OCTAVES];
        for cells in self.cells_in(spans) {
            inside.iter_mut().zip(by_octave(cells, self.above)).for_each(|(sum, count)| *sum += count);
        }
        let outside: [f64; OCTAVES] = std::array::from_fn(|octave| self.octaves[octave] - inside[octave]);
        let (mut below, half) = (0.0, outside.iter().sum::<f64>() / 2.0);
        let median = outside.iter().position(|count| {
            below += count;
            below >= half
        });
        inside[median.unwrap_or(0) + 1..].iter().sum::<f64>() / inside.iter().sum::<f64>().max(1.0)
    }
}

/// The number of durations in cells by octave, as far as they are not above a limit.
fn by_octave(cells: &[Cell], above: u64) -> [f64; OCTAVES] {
    let mut octaves = [0.0; OCTAVES];
    let counted = cells.iter().filter(|cell| cell.octave() <= octave_of(above));
    counted.for_each(|cell| octaves[cell.octave()] += cell.count as f64);
    octaves
}

#[derive(Clone, Copy, Default)]
struct BinTotals {
    count: f64,
    sum: f64,
}

impl BinTotals {
    fn mean(self) -> f64 {
        self.sum / self.count
    }
}

/// How much longer the events in some spans took than as many of the others; none without either.
fn lost([inside, outside]: [BinTotals; 2]) -> Option<Ns> {
    let has_both = inside.count >= 1.0 && outside.count >= 1.0;
    has_both.then(|| Ns(((inside.mean() - outside.mean()) * inside.count).max(0.0) as u128))
}

/// Whether two spans are about the same time.
fn are_alike(one: Span, other: Span) -> bool {
    one.overlap_ns(other).saturating_mul(2) > one.length_ns().max(other.length_ns())
}

/// The slow periods of a trace, from its groups: those of the same time are one, and so are those of the same groups.
pub(super) fn periods(courses: &[GroupCourse<'_>], trace: Span) -> Vec<Period> {
    let mut slow: Vec<(Vec<usize>, Vec<Span>)> = Vec::new();
    for (group, course) in courses.iter().enumerate() {
        for span in &course.spans {
            match slow.iter_mut().find(|(_, spans)| are_alike(spans[0], *span)) {
                Some((groups, _)) if groups.last() == Some(&group) => {}
                Some((groups, _)) => groups.push(group),
                None => slow.push((vec![group], vec![*span])),
            }
        }
    }
    let mut joined: Vec<(Vec<usize>, Vec<Span>)> = Vec::new();
    for (groups, spans) in slow {
        match joined.iter_mut().find(|(known, _)| *known == groups) {
            Some((_, known)) => known.extend(spans),
            None => joined.push((groups, spans)),
        }
    }
    let periods = in_parallel(&joined, |(groups, spans)| period(courses, groups, spans.clone(), trace));
    let mut periods: Vec<Period> = periods.into_iter().flatten().collect();
    periods.sort_by_key(|period| (std::cmp::Reverse(period.lost), period.begin_ns));
    periods
}

fn period(
    courses: &[GroupCourse<'_>],
    groups: &[usize],
    mut spans: Vec<Span>,
    trace: Span,
) -> Option<Period> {
    spans.sort_by_key(|span| span.begin_ns);
    let costs = |span: &Span| {
        let of_group = |&group: &usize| lost(courses[group].sums(std::slice::from_ref(span)));
        groups.iter().filter_map(of_group).map(|lost| lost.0).sum::<u128>()
    };
    let worst = *spans.iter().max_by_key(|span| costs(span))?;
    let sums: Vec<[BinTotals; 2]> = courses.iter().map(|course| course.sums(&spans)).collect();
    let shift = |group: usize| courses[group].shift(&spans, sums[group]);
    let mut shifts: Vec<Shift> = groups.iter().filter_map(|&group| shift(group)).collect();
    shifts.sort_by_key(|shift| std::cmp::Reverse(shift.lost));
    // One request may have a turn and a command: those of one event are counted.
    let event = shifts.first().map(|shift| shift.name.event.clone());
    let same = groups
        .iter()
        .map(|group| &courses[*group])
        .filter(|course| Some(&course.name.event) == event.as_ref());
    let rates = rates(same, &spans, trace);
    let is_telling = |group: &usize| sums[*group].iter().all(|part| part.count >= TELLING);
    let telling: Vec<Shift> = (0..courses.len()).filter(is_telling).filter_map(shift).collect();
    let factors = || telling.iter().map(|shift| shift.factor);
    let (least, most) = (factors().fold(f64::MAX, f64::min), factors().fold(0.0, f64::max));
    let alike = match telling.len() {
        0 => false,
        1 => telling[0].slower_share >= MOST,
        _ => least >= SHIFT && most <= ALIKE * least,
    };
    // The last bin may reach beyond the last event.
    let is_shift = spans.len() == 1 && worst.end_ns >= trace.end_ns;
    let mut period = Period {
        kind: if is_shift { PeriodKind::Shift } else { PeriodKind::Period },
        begin_ns: worst.begin_ns.max(trace.begin_ns),
        end_ns: worst.end_ns.min(trace.end_ns),
        count: shifts.iter().map(|shift| shift.count).sum(),
        lost: Ns(shifts.iter().map(|shift| shift.lost.0).sum()),
        rate_before_per_s: rates[1],
        rate_during_per_s: rates[0],
        judged_groups: telling.len() as u64,
        alike,
        reason: String::new(),
        groups: shifts,
        spans,
    };
    period.reason = reason(&period);
    period.groups.truncate(NAMED);
    period.spans.truncate(NAMED);
    Some(period)
}

/// The rates of the events of some groups in the spans, and outside of them; those included that are too slow to count otherwise.
fn rates<'a>(
    courses: impl Iterator<Item = &'a GroupCourse<'a>>,
    spans: &[Span],
    trace: Span,
) -> [Option<f64>; 2] {
    let slow = total(spans.iter().map(|span| span.overlap_ns(trace)));
    let times = [slow, trace.length_ns().saturating_sub(slow)];
    let mut counts = [0; 2];
    for course in courses {
        let count = |cells: &[Cell]| cells.iter().map(|cell| cell.count).sum::<u64>();
        let inside: u64 = course.cells_in(spans).map(count).sum();
        counts[0] += inside;
        counts[1] += count(course.series.cells()) - inside;
    }
    [0, 1].map(|part| (times[part] > 0).then(|| counts[part] as f64 / times[part] as f64 * 1e9))
}

/// Why a period is shown, e.g. `105k/s -> 21k/s, get mean 300 ns -> 1.35 µs, all alike: suspect the machine`.
fn reason(period: &Period) -> String {
    let rate = match (period.rate_before_per_s, period.rate_during_per_s) {
        (Some(before), Some(during)) if (before - during).abs() > SAME_RATE * before => {
            format!("{}/s -> {}/s, ", scaled(before), scaled(during))
        }
        _ => String::new(),
    };
    let first = period.groups.first().map_or(String::new(), |shift| {
        let [before, during] =
            [shift.mean_before_us, shift.mean_during_us].map(|mean| duration_in_words(mean * 1000.0));
        format!("{} mean {before} -> {during}", short(&shift.name))
    });
    let others = match period.groups.len().saturating_sub(1) as u64 {
        0 => String::new(),
        others => format!(" and {}", counted(others, "other group")),
    };
    let whose = match (period.alike, period.judged_groups) {
        (true, 0 | 1) => ", all its events alike: suspect the machine".to_owned(),
        (true, groups) => format!(", all {groups} groups alike: suspect the machine"),
        (false, 0 | 1) => ", but not all of its events".to_owned(),
        (false, groups) => format!(", {} of {groups} groups", period.groups.len()),
    };
    format!("{rate}{first}{others}{whose}")
}

/// What a group is called in a sentence.
pub(super) fn short(name: &GroupName) -> String {
    group_in_words(&name.event, name.key.0.iter().map(|(name, value)| (name, value)))
}

#[cfg(test)]
mod tests {
    use super::super::series::Resolution;
    use super::*;
    use crate::datum::Pairs;

    #[test]
    fn running_sums_are_those_of_each_bin() {
        let seed = fastrand::u64(..);
        let mut random = fastrand::Rng::with_seed(seed);
        let event = "app:request".to_owned();
        let name = GroupName { event, key: Pairs::default(), is_sum: false, unit_is_guess: false };
        for round in 0..200 {
            let length = 1 << random.u32(10..40);
            let (mut series, resolution) = (Series::default(), Resolution::new(length));
            for _ in 0..random.usize(1..400) {
                let ticks = random.u64(..1 << 20) >> random.u32(..20);
                let (time, count) = (random.i64(0..length as i64), random.u64(1..9));
                series.record_many(time, ticks, count, resolution);
            }
            series.compact(1 << random.u32(4..12));
            let above = random.u64(..1 << 20);
            let course = GroupCourse::new(&name, &series, above, 1000, 0.01);
            // In order, as those of a period are.
            let mut edges: Vec<i64> = (0..6).map(|_| random.i64(0..length as i64)).collect();
            edges.sort_unstable();
            let spans: Vec<Span> =
                edges.chunks(2).map(|edge| Span { begin_ns: edge[0], end_ns: edge[1] }).collect();
            let is_inside = |bin: u64| spans.iter().any(|span| span.contains(course.middle(bin)));
            for (part, wanted) in course.sums(&spans).iter().zip([true, false]) {
                let bins = || course.bins.iter().filter(|bin| is_inside(bin.number) == wanted);
                assert_eq!(part.count, bins().map(|bin| bin.count).sum::<f64>(), "seed {seed}, {round}");
                assert_eq!(part.sum, bins().map(|bin| bin.sum * 1000.0).sum::<f64>(), "seed {seed}, {round}");
            }
            let cells: u64 = course.cells_in(&spans).flatten().map(|cell| cell.count).sum();
            let inside = series.cells().iter().filter(|cell| is_inside(cell.bin()));
            assert_eq!(cells, inside.map(|cell| cell.count).sum::<u64>(), "seed {seed}, round {round}");
        }
    }
}
