//! All incidents: the longest in full, and totals by cause of all of them.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::ops::Range;

use ctf_reader::Window;
use hashbrown::HashMap;

use super::finding::IncidentKind;
use super::repetition::period;
use super::stall::Stall;
use crate::intervals::{IntervalName, total};
use crate::scheduling::SystemCause;

/// The number of incidents kept in full, unless fewer are asked for.
const MOST: usize = 10_000;

/// A cause takes part in an incident if it explains at least one part in this number of it.
const LEAST_SHARE: i64 = 10;

/// The number of beginnings kept per cause.
const MOST_BEGINNINGS: usize = 4096;

/// What held a thread up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// An event, and what within it took most of the time.
    Event(IntervalName, Option<IntervalName>),
    /// No event explains it, but what the scheduler did.
    System(SystemCause),
    /// No event explains it.
    Unexplained,
    /// A loop slept too long.
    Silence,
    /// Clients were not served although the loop turned.
    Starved,
}

impl Cause {
    /// The cause of an incident.
    pub fn of(stall: &Stall) -> Cause {
        match stall.cause() {
            Some(cause) => Cause::Event(cause.name, stall.detail().map(|detail| detail.name)),
            None => stall.held_by().map_or(Cause::unknown(stall), |(cause, _)| Cause::System(cause)),
        }
    }

    /// The cause of what nothing is known of.
    fn unknown(stall: &Stall) -> Cause {
        match stall.kind {
            IncidentKind::Silence => Cause::Silence,
            IncidentKind::Starved => Cause::Starved,
            IncidentKind::Turn | IncidentKind::Interval => Cause::Unexplained,
        }
    }
}

/// What one cause comes to, over all incidents.
#[derive(Clone, Debug, Default)]
pub struct CauseSum {
    /// The number of incidents that it took part in.
    pub count: u64,
    /// How much of them it explains.
    pub total: i64,
    /// How much of one incident at most.
    pub longest: i64,
    /// What no event explains of the incidents that it is the main cause of.
    pub unexplained: i64,
    /// The number of intervals in the incidents that it is the main cause of, and of clients in one of them at most.
    pub intervals: u64,
    pub clients: u64,
    /// When they began, in order; not all if there are very many.
    pub beginnings: Vec<i64>,
}

/// Incidents that are not kept.
#[derive(Clone, Copy, Debug, Default)]
pub struct FoldedStalls {
    pub count: u64,
    /// The number of those that are turns.
    pub turns: u64,
    /// Their length, how much of it no event explains, and of how much nothing is known.
    pub time: i64,
    pub unexplained: i64,
    pub unaccounted: i64,
}

/// All incidents so far.
#[derive(Debug, Default)]
pub struct IncidentTally {
    /// What incidents must overlap to be reported.
    pub window: Window,
    /// The number of incidents kept in full.
    pub most: usize,
    /// When incidents must begin to be counted, if another watch counts the others.
    pub begun_in: Option<Range<i64>>,
    /// Those that are kept, in the order of their ends.
    stalls: Vec<Stall>,
    /// Totals of those that are not kept.
    folded_causes: HashMap<Cause, CauseSum>,
    pub folded: FoldedStalls,
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
    /// No incidents yet; those that overlap the window are reported.
    pub fn new(window: Window) -> Self {
        IncidentTally { window, most: MOST, ..IncidentTally::default() }
    }

    /// Whether an incident is reported: it passes the filters, and overlaps the window.
    fn is_reported(&self, stall: &Stall) -> bool {
        let counts = self.begun_in.as_ref().is_none_or(|epoch| epoch.contains(&stall.span.begin_ns));
        counts && stall.is_selected && stall.span.is_in(self.window)
    }

    /// Adds an incident.
    pub fn add(&mut self, stall: Stall) {
        self.involved.extend(stall.chain.iter().map(|link| link.name.kind));
        self.added += 1;
        self.stalls.push(Stall { number: self.added, ..stall });
        if self.stalls.len() > 2 * self.most {
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

    /// Takes the incidents out that were kept.
    pub fn take_stalls(&mut self) -> Vec<Stall> {
        std::mem::take(&mut self.stalls)
    }

    /// Puts incidents back that were taken out.
    pub fn put_back(&mut self, stalls: Vec<Stall>) {
        self.stalls = stalls;
    }

    /// Keeps the longest in full, of equally long ones the first, and totals of the others.
    fn fold(&mut self) {
        let mut stalls = self.take_stalls();
        stalls.retain(|stall| self.is_reported(stall));
        if stalls.len() <= self.most {
            self.stalls = stalls;
            return;
        }
        let rank = |(place, stall): (usize, &Stall)| (Reverse(stall.span.length_ns()), place);
        let mut ranks: Vec<_> = stalls.iter().enumerate().map(rank).collect();
        let (_, &mut first_folded, _) = ranks.select_nth_unstable(self.most);
        for (place, stall) in stalls.into_iter().enumerate() {
            if rank((place, &stall)) < first_folded {
                self.stalls.push(stall);
                continue;
            }
            charge(&mut self.folded_causes, &stall);
            let folded = &mut self.folded;
            folded.count += 1;
            folded.turns += u64::from(stall.kind == IncidentKind::Turn);
            folded.time = folded.time.saturating_add(stall.span.within(self.window).length_ns());
            folded.unexplained = folded.unexplained.saturating_add(stall.unexplained);
            folded.unaccounted = folded.unaccounted.saturating_add(stall.unaccounted());
            self.missed += u64::from(stall.number > self.reported);
        }
    }

    /// The incidents that were not marked as reported yet, and the number of those that are no longer kept.
    pub fn unreported(&self) -> (Vec<&Stall>, u64) {
        (self.stalls().filter(|stall| stall.number > self.reported).collect(), self.missed)
    }

    /// Marks all incidents so far as reported.
    pub fn mark_reported(&mut self) {
        (self.reported, self.missed) = (self.added, 0);
    }

    /// The incidents that were kept and are reported, in the order in which they were settled.
    pub fn stalls(&self) -> impl DoubleEndedIterator<Item = &Stall> {
        self.stalls.iter().filter(|stall| self.is_reported(stall))
    }

    /// Totals of all incidents by cause, those that took the most time first.
    pub fn by_cause(&self) -> Vec<(Cause, CauseSum)> {
        let mut sums = self.folded_causes.clone();
        self.stalls().for_each(|stall| charge(&mut sums, stall));
        sums.retain(|_, sum| sum.count > 0);
        let mut sums: Vec<(Cause, CauseSum)> = sums.into_iter().collect();
        sums.iter_mut().for_each(|(_, sum)| sum.beginnings.sort_unstable());
        sums.sort_by_key(|(_, sum)| (Reverse(sum.total), sum.beginnings.first().copied()));
        sums
    }
}

/// Charges each cause of an incident with the time that it explains.
fn charge(sums: &mut HashMap<Cause, CauseSum>, stall: &Stall) {
    let main = Cause::of(stall);
    for (cause, explained) in charges(stall) {
        let sum = sums.entry(cause).or_default();
        sum.total = sum.total.saturating_add(explained);
        if cause == main {
            sum.unexplained = sum.unexplained.saturating_add(stall.unexplained);
            sum.intervals += stall.cause().map_or(0, |link| link.count);
            sum.clients = sum.clients.max(stall.cause().map_or(0, |link| link.clients));
        }
        // What took next to nothing of an incident did not take part in it.
        if cause == main || explained.saturating_mul(LEAST_SHARE) >= stall.span.length_ns() {
            sum.count += 1;
            sum.longest = sum.longest.max(explained);
            if sum.beginnings.len() < MOST_BEGINNINGS {
                sum.beginnings.push(stall.span.begin_ns);
            }
        }
    }
}

/// The causes of an incident, and how much of it each explains.
pub fn charges(stall: &Stall) -> Vec<(Cause, i64)> {
    let main = Cause::of(stall);
    let systems: Vec<(Cause, i64)> =
        stall.system_parts().into_iter().map(|(cause, time)| (Cause::System(cause), time)).collect();
    let Some(cause) = stall.cause() else {
        let mut charges = systems;
        if let Some((kept, time)) = stall.kept {
            // An event may have run for what is left.
            let left = stall.span.length_ns() - time.least;
            let event = stall.chain.get(usize::from(stall.kind == IncidentKind::Turn));
            let event = event.map(|link| (Cause::Event(link.name, None), link.spent.min(left)));
            charges = [(Cause::System(kept), time.least)].into_iter().chain(event).collect();
        }
        let rest = stall.span.length_ns() - total(charges.iter().map(|(_, time)| *time));
        charges.push((Cause::unknown(stall), rest));
        charges.retain(|(_, time)| *time > 0);
        return charges;
    };
    let is_turn = stall.kind == IncidentKind::Turn;
    // The link that contains the cause: the part of a turn, or all of another interval.
    let around = &stall.chain[usize::from(is_turn)];
    let mut charges =
        vec![(main, cause.spent), (Cause::Event(around.name, None), around.spent - cause.spent)];
    if is_turn {
        let others = stall.parts.iter().filter(|part| part.name != around.name);
        charges.extend(others.map(|part| (Cause::Event(part.name, None), part.spent)));
        charges.extend(systems);
        charges.push((Cause::Unexplained, stall.unaccounted()));
    }
    charges.retain(|(_, explained)| *explained > 0);
    charges
}

impl CauseSum {
    /// The time from one incident to the next, if that is about the same each time.
    pub fn period(&self) -> Option<i64> {
        if self.count > self.beginnings.len() as u64 { None } else { period(&self.beginnings) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Span;

    fn silence(begin: i64, length: i64) -> Stall {
        Stall::silence(0, Span { begin_ns: begin, end_ns: begin + length })
    }

    #[test]
    fn a_million_incidents_are_folded_and_all_are_counted() {
        let mut tally = IncidentTally::new(Window::default());
        for number in 0..100_000 {
            tally.add(silence(number * 1000, 1 + number % 977));
        }
        assert!(tally.stalls().count() <= 2 * MOST);
        let [(Cause::Silence, sum)] = &tally.by_cause()[..] else { panic!("there is one cause") };
        assert_eq!((sum.count, sum.longest), (100_000, 977));
        assert_eq!(sum.total, (0..100_000).map(|number| 1 + number % 977).sum::<i64>());
        assert_eq!(tally.folded.count + tally.stalls().count() as u64, 100_000);
        assert!(tally.stalls().any(|stall| stall.span.length_ns() == 977));
    }

    #[test]
    fn of_equally_long_incidents_the_first_are_kept() {
        let mut tally = IncidentTally::new(Window::default());
        (0..=2 * MOST as i64).for_each(|number| tally.add(silence(number * 1000, 5)));
        assert_eq!(tally.stalls().count(), MOST);
        assert_eq!(tally.stalls().last().unwrap().span.begin_ns, (MOST as i64 - 1) * 1000);
        assert_eq!(tally.folded.count, MOST as u64 + 1);
    }

    #[test]
    fn a_period_is_said_where_there_is_one() {
        let period = |beginnings: &[i64]| {
            let mut tally = IncidentTally::new(Window::default());
            beginnings.iter().for_each(|&begin| tally.add(silence(begin, 1)));
            tally.by_cause()[0].1.period()
        };
        assert_eq!(period(&[1000, 2000, 3010, 3990, 5000, 6000, 9000]), Some(1000));
        assert_eq!(period(&[1000, 2000, 3000]), Some(1000));
        assert_eq!(period(&[1000, 2000]), None, "too few");
        assert_eq!(period(&[1000, 1100, 4000, 4050, 9000, 20_000]), None);
    }
}
