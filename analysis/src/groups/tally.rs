//! What is aggregated of a group, and how the events of a batch are added to it.

use std::ops::Range;

use ctf_reader::Brief;

use super::brief_counts::BriefCounts;
use super::group::{Extra, Figures};
use super::table::{OfKind, Place};

/// The figures of a group, and what else is aggregated of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally<E> {
    pub figures: Figures,
    pub extra: E,
}

impl<E: Extra> Tally<E> {
    #[inline]
    pub fn take(&mut self, duration: Option<u64>, moment: E::Moment, context: &E::Context) {
        self.extra.take(duration, moment, context);
        self.figures.record(duration);
    }

    /// Adds equal durations, which are plausible.
    pub fn take_many(&mut self, ticks: u64, count: u64, moment: E::Moment, context: &E::Context) {
        self.extra.take_many(ticks, count, moment, context);
        self.figures.record_many(ticks, count);
    }

    pub fn absorb(&mut self, other: Self) {
        self.extra.absorb(other.extra);
        self.figures.merge(&other.figures);
    }
}

/// Events of a batch, by their numbers, whose groups are probably in the cache.
pub(super) struct Known<'k, E: Extra> {
    pub briefs: &'k [Brief],
    pub durations: &'k [u64],
    pub moment: E::Moment,
    pub context: &'k E::Context,
}

impl<E: Extra> Known<'_, E> {
    /// Adds those whose groups are in the cache, and lists the others.
    #[inline(always)]
    pub fn take(
        &self,
        of_kind: &mut OfKind<Tally<E>>,
        events: impl Iterator<Item = usize>,
        others: &mut Vec<usize>,
    ) {
        for event in events {
            // A group in the cache exists, so the phase allows it.
            match of_kind.recall(self.briefs[event]) {
                Some(tally) => tally.take(self.durations.get(event).copied(), self.moment, self.context),
                None => others.push(event),
            }
        }
    }

    /// The same for many events of which nearly all took brief times: equal ones of a group are counted, and added at once.
    #[inline(always)]
    pub fn take_brief(
        &self,
        of_kind: &mut OfKind<Tally<E>>,
        events: Range<usize>,
        counts: &mut BriefCounts,
        others: &mut Vec<usize>,
    ) {
        for event in events {
            let (Some(place), ticks) = (of_kind.recall_number(self.briefs[event]), self.durations[event])
            else {
                others.push(event);
                continue;
            };
            match counts.of(place, ticks) {
                Some(count) => *count += 1,
                None => {
                    let tally = of_kind.at(Place::Keyed(place));
                    tally.into_iter().for_each(|tally| tally.take(Some(ticks), self.moment, self.context));
                }
            }
        }
        counts.take(|place, ticks, count| {
            let tally = of_kind.at(Place::Keyed(place));
            tally.into_iter().for_each(|tally| tally.take_many(ticks, count, self.moment, self.context));
        });
    }
}
