//! All incidents: the longest in full, and totals by cause of all of them.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use super::finding::IncidentKind;
use super::stall::Stall;
use crate::analysis::intervals::IntervalName;

/// The number of incidents kept in full.
const MOST: usize = 10_000;

/// The number of beginnings kept per cause.
const MOST_BEGINNINGS: usize = 4096;

/// What held a thread up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// An event, and what within it took most of the time.
    Event(IntervalName, Option<IntervalName>),
    /// No event explains it.
    Unexplained,
    /// A loop slept too long.
    Silence,
}

impl Cause {
    /// The cause of an incident.
    pub fn of(stall: &Stall) -> Cause {
        match stall.cause() {
            Some(cause) => Cause::Event(cause.name, stall.detail().map(|detail| detail.name)),
            None if stall.kind == IncidentKind::Silence => Cause::Silence,
            None => Cause::Unexplained,
        }
    }
}

/// The total of the incidents of one cause.
#[derive(Clone, Debug, Default)]
pub struct CauseSum {
    pub count: u64,
    pub total: i64,
    pub longest: i64,
    pub unexplained: i64,
    /// When they began, in order; not all if there are very many.
    pub beginnings: Vec<i64>,
}

/// All incidents so far.
#[derive(Debug, Default)]
pub struct IncidentTally {
    /// Those that are kept, in the order of their ends.
    stalls: Vec<Stall>,
    /// Totals of those that are not kept.
    folded: HashMap<Cause, CauseSum>,
    folded_turns: u64,
    /// The kinds of intervals in the chain of an incident.
    pub involved: HashSet<u32>,
    /// The number of incidents that were added, including those that were removed again.
    added: u64,
    /// The number of the last incident that was reported while events arrive.
    reported: u64,
    /// The number of incidents that are no longer kept and were never reported.
    missed: u64,
}

impl IncidentTally {
    /// Adds an incident.
    pub fn add(&mut self, stall: Stall) {
        self.involved.extend(stall.chain.iter().map(|link| link.name.kind));
        self.added += 1;
        self.stalls.push(Stall { number: self.added, ..stall });
        if self.stalls.len() > 2 * MOST {
            self.fold();
        }
    }

    /// Removes the last matching incident of those that ended after `since`.
    pub fn take_last(&mut self, fits: impl Fn(&Stall) -> bool, since: i64) -> Option<Stall> {
        let recent = self.stalls.iter().rev().take_while(|stall| stall.span.end_ns > since).count();
        let first = self.stalls.len() - recent;
        let place = self.stalls[first..].iter().rposition(fits)?;
        Some(self.stalls.remove(first + place))
    }

    /// The incidents that ended after `since`, the last first.
    pub fn ended_since(&mut self, since: i64) -> impl Iterator<Item = &mut Stall> {
        self.stalls.iter_mut().rev().take_while(move |stall| stall.span.end_ns > since)
    }

    /// Drops the incidents that do not match.
    pub fn retain(&mut self, fits: impl Fn(&Stall) -> bool) {
        self.stalls.retain(fits);
    }

    /// Keeps the longest in full, of equally long ones the first, and totals of the others.
    fn fold(&mut self) {
        let rank = |place: usize| (Reverse(self.stalls[place].span.length_ns()), place);
        let mut ranks: Vec<_> = (0..self.stalls.len()).map(rank).collect();
        let (_, &mut first_folded, _) = ranks.select_nth_unstable(MOST);
        for (place, stall) in std::mem::take(&mut self.stalls).into_iter().enumerate() {
            if (Reverse(stall.span.length_ns()), place) < first_folded {
                self.stalls.push(stall);
            } else {
                self.folded.entry(Cause::of(&stall)).or_default().take(&stall);
                self.folded_turns += u64::from(stall.kind == IncidentKind::Turn);
                self.missed += u64::from(stall.number > self.reported);
            }
        }
    }

    /// The incidents that were not reported yet, and the number of those that are no longer kept.
    pub fn unreported(&self) -> (&[Stall], u64) {
        let first = self.stalls.partition_point(|stall| stall.number <= self.reported);
        (&self.stalls[first..], self.missed)
    }

    /// Marks all incidents so far as reported.
    pub fn mark_reported(&mut self) {
        (self.reported, self.missed) = (self.added, 0);
    }

    /// The incidents that were kept, in the order in which they were settled.
    pub fn stalls(&self) -> &[Stall] {
        &self.stalls
    }

    /// The number, total time and unexplained time of those that were not kept.
    pub fn folded(&self) -> (u64, i64, i64) {
        let sums = self.folded.values();
        sums.fold((0, 0, 0), |(count, total, unexplained), sum| {
            (count + sum.count, total.saturating_add(sum.total), unexplained.saturating_add(sum.unexplained))
        })
    }

    /// The number of turns among those that were not kept.
    pub fn folded_turns(&self) -> u64 {
        self.folded_turns
    }

    /// Totals of all incidents by cause, those that took the most time first.
    pub fn by_cause(&self) -> Vec<(Cause, CauseSum)> {
        let mut sums = self.folded.clone();
        for stall in &self.stalls {
            sums.entry(Cause::of(stall)).or_default().take(stall);
        }
        let mut sums: Vec<(Cause, CauseSum)> = sums.into_iter().collect();
        sums.iter_mut().for_each(|(_, sum)| sum.beginnings.sort_unstable());
        sums.sort_by_key(|(_, sum)| (Reverse(sum.total), sum.beginnings.first().copied()));
        sums
    }
}

impl CauseSum {
    fn take(&mut self, stall: &Stall) {
        let length = stall.span.length_ns();
        self.count += 1;
        self.total = self.total.saturating_add(length);
        self.longest = self.longest.max(length);
        self.unexplained = self.unexplained.saturating_add(stall.unexplained);
        if self.beginnings.len() < MOST_BEGINNINGS {
            self.beginnings.push(stall.span.begin_ns);
        }
    }

    /// The time from one incident to the next, if that is about the same each time.
    pub fn period(&self) -> Option<i64> {
        const FEWEST: usize = 4;
        if self.beginnings.len() < FEWEST || self.count > self.beginnings.len() as u64 {
            return None;
        }
        let mut steps: Vec<i64> = self.beginnings.windows(2).map(|pair| pair[1] - pair[0]).collect();
        steps.sort_unstable();
        let median = steps[(steps.len() - 1) / 2];
        let mut deviations: Vec<i64> = steps.iter().map(|step| (step - median).abs()).collect();
        deviations.sort_unstable();
        // Most of them must be regular: the 75th percentile of the deviations.
        let deviation = deviations[deviations.len() * 3 / 4];
        (median > 0 && deviation <= median / 4).then_some(median)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::finding::Span;

    fn silence(begin: i64, length: i64) -> Stall {
        Stall::silence(0, Span { begin_ns: begin, end_ns: begin + length })
    }

    #[test]
    fn a_million_incidents_are_folded_and_all_are_counted() {
        let mut tally = IncidentTally::default();
        for number in 0..100_000 {
            tally.add(silence(number * 1000, 1 + number % 977));
        }
        assert!(tally.stalls().len() <= 2 * MOST);
        let [(Cause::Silence, sum)] = &tally.by_cause()[..] else { panic!("there is one cause") };
        assert_eq!((sum.count, sum.longest), (100_000, 977));
        assert_eq!(sum.total, (0..100_000).map(|number| 1 + number % 977).sum::<i64>());
        assert_eq!(tally.folded().0 + tally.stalls().len() as u64, 100_000);
        assert!(tally.stalls().iter().any(|stall| stall.span.length_ns() == 977));
    }

    #[test]
    fn of_equally_long_incidents_the_first_are_kept() {
        let mut tally = IncidentTally::default();
        (0..=2 * MOST as i64).for_each(|number| tally.add(silence(number * 1000, 5)));
        assert_eq!(tally.stalls().len(), MOST);
        assert_eq!(tally.stalls()[MOST - 1].span.begin_ns, (MOST as i64 - 1) * 1000);
        assert_eq!(tally.folded().0, MOST as u64 + 1);
    }

    #[test]
    fn a_period_is_said_where_there_is_one() {
        let period = |beginnings: &[i64]| {
            let mut tally = IncidentTally::default();
            beginnings.iter().for_each(|&begin| tally.add(silence(begin, 1)));
            tally.by_cause()[0].1.period()
        };
        assert_eq!(period(&[1000, 2000, 3010, 3990, 5000, 6000, 9000]), Some(1000));
        assert_eq!(period(&[1000, 2000, 3000]), None, "too few");
        assert_eq!(period(&[1000, 1100, 4000, 4050, 9000, 20_000]), None);
    }
}
