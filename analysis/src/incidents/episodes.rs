//! Episodes: neighbouring incidents of one cause, which tell one story.

use std::collections::HashMap;

use super::repetition::period;
use super::stall::Stall;
use super::tally::Cause;
use crate::finding::Span;
use crate::intervals::total;

/// Incidents that are at most this far apart are neighbours, as are those that repeat regularly; nanoseconds.
const NEAR: i64 = 1_000_000_000;

/// Neighbouring incidents of one cause in one process.
pub struct Group<'a> {
    /// In the order in which they began.
    pub stalls: Vec<&'a Stall>,
    /// The time from one to the next, if that is about the same each time, and the share of steps that are close to it.
    pub period: Option<(i64, f64)>,
}

impl Group<'_> {
    /// From the first to the last.
    pub fn span(&self) -> Span {
        let end = self.stalls.iter().map(|stall| stall.span.end_ns).max();
        Span { begin_ns: self.begin(), end_ns: end.unwrap_or(i64::MIN) }
    }

    /// When the first began.
    pub fn begin(&self) -> i64 {
        self.stalls[0].span.begin_ns
    }

    /// How long they took together.
    pub fn held(&self) -> i64 {
        total(self.stalls.iter().map(|stall| stall.span.length_ns()))
    }

    /// The longest of them, the first of several.
    pub fn longest(&self) -> &Stall {
        let longest = self.stalls.iter().rev().max_by_key(|stall| stall.span.length_ns());
        longest.expect("a group has a stall")
    }
}

/// Groups incidents; `process_of` is the number of an incident's process.
pub fn episodes<'a>(stalls: &[&'a Stall], process_of: impl Fn(&Stall) -> usize) -> Vec<Group<'a>> {
    let mut by_cause: HashMap<(usize, Cause), Vec<&'a Stall>> = HashMap::new();
    for &stall in stalls {
        by_cause.entry((process_of(stall), Cause::of(stall))).or_default().push(stall);
    }
    by_cause.into_values().flat_map(split).collect()
}

/// Splits the incidents of one cause where they lie far apart.
fn split(mut stalls: Vec<&Stall>) -> Vec<Group<'_>> {
    stalls.sort_by_key(|stall| stall.span.begin_ns);
    let near = period_of(&stalls).map_or(NEAR, |(period, _)| NEAR.max(period.saturating_mul(2)));
    let groups = stalls.chunk_by(|one, next| next.span.begin_ns.saturating_sub(one.span.end_ns) <= near);
    groups.map(|stalls| Group { stalls: stalls.to_vec(), period: period_of(stalls) }).collect()
}

/// The time from one to the next, and the share of the steps that differ from it by less than a tenth.
fn period_of(stalls: &[&Stall]) -> Option<(i64, f64)> {
    let beginnings: Vec<i64> = stalls.iter().map(|stall| stall.span.begin_ns).collect();
    let period = period(&beginnings)?;
    let steps = beginnings.windows(2).map(|pair| pair[1] - pair[0]);
    let close = steps.filter(|step| (step - period).abs() * 10 < period).count();
    Some((period, close as f64 / (beginnings.len() - 1) as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    fn groups(spans: &[(i64, i64)]) -> Vec<(i64, i64, usize, bool)> {
        let silence =
            |&(begin, end): &(i64, i64)| Stall::silence(0, Span { begin_ns: begin * MS, end_ns: end * MS });
        let stalls: Vec<Stall> = spans.iter().map(silence).collect();
        let mut groups = episodes(&stalls.iter().collect::<Vec<_>>(), |_| 0);
        groups.sort_by_key(Group::begin);
        let outline = |group: &Group<'_>| {
            let span = group.span();
            (span.begin_ns / MS, span.end_ns / MS, group.stalls.len(), group.period.is_some())
        };
        groups.iter().map(outline).collect()
    }

    #[test]
    fn neighbours_are_one_episode_and_others_are_not() {
        assert_eq!(groups(&[]), []);
        assert_eq!(
            groups(&[(0, 10), (500, 510), (5000, 5010)]),
            [(0, 510, 2, false), (5000, 5010, 1, false)]
        );
    }

    #[test]
    fn what_repeats_regularly_is_one_episode_however_far_apart() {
        let regular: Vec<(i64, i64)> = (0..10).map(|turn| (turn * 10_000, turn * 10_000 + 50)).collect();
        assert_eq!(groups(&regular), [(0, 90_050, 10, true)]);
    }

    #[test]
    fn the_longest_stands_for_all() {
        let stalls: Vec<Stall> = [(0, 5), (10, 30), (40, 60)]
            .map(|(begin_ns, end_ns)| Stall::silence(0, Span { begin_ns, end_ns }))
            .into();
        let groups = episodes(&stalls.iter().collect::<Vec<_>>(), |_| 0);
        assert_eq!((groups.len(), groups[0].longest().span.begin_ns, groups[0].held()), (1, 10, 45));
    }
}
