//! From which duration on an event is slow for its group.

use std::ops::RangeInclusive;
use std::sync::Arc;

use super::findings::Basis;
use crate::groups::{Groups, Place, Quantile};
use crate::reading::{EventKind, Kinds};

/// The limit of a group, in the unit of its kind, and what it rests on.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// What it rests on.
    pub basis: Basis,
    /// The place of the group among those that were judged.
    pub(crate) group: usize,
    /// Durations above this are slow. It is in a gap if there is one, otherwise above the longest duration.
    pub above: u64,
    /// The durations above it that belong to modes, and so are not single.
    pub modes: Vec<RangeInclusive<u64>>,
    /// The number of plausible durations that the group has; none if it was folded.
    pub seen: Option<u64>,
    /// The number of durations that it is compared with: those below the limit.
    pub compared_with: u64,
    /// The highest percentile of those that their number can tell.
    pub quantile: Quantile,
    /// Its value.
    pub at_quantile: u64,
}

impl Limit {
    /// Whether a duration is improbable by itself.
    #[inline]
    pub fn is_single(&self, ticks: u64) -> bool {
        ticks > self.above && !self.modes.iter().any(|mode| mode.contains(&ticks))
    }
}

/// The limits of all groups.
#[derive(Debug, Default)]
pub struct Limits {
    pub(super) kinds: Kinds,
    pub(super) groups: Groups<Limit>,
    /// For each kind, the limit of groups that were folded.
    pub(super) folded: Vec<Option<Limit>>,
    /// For each kind, the lowest limit of all its groups, so that few keys need to be looked up.
    pub(super) lowest: Vec<u64>,
}

impl Limits {
    /// The number of a kind.
    pub fn kind_number(&self, kind: &EventKind) -> Option<usize> {
        self.kinds.number(kind)
    }

    /// The limit of the group with this key, as bytes; none if there were too few durations to say anything.
    #[inline]
    pub fn of(&self, kind: usize, key: &[u8]) -> Option<&Limit> {
        self.at(kind, self.place(kind, key))
    }

    /// Where the limit of the group with this key is, if it has its own.
    #[inline]
    pub(crate) fn place(&self, kind: usize, key: &[u8]) -> Option<Place> {
        self.groups.find(kind, key)
    }

    /// The limit in a place, or that of groups that were folded.
    #[inline]
    pub(crate) fn at(&self, kind: usize, place: Option<Place>) -> Option<&Limit> {
        let own = place.and_then(|place| self.groups.at(kind, place));
        own.or_else(|| self.folded.get(kind)?.as_ref())
    }

    /// The duration above which an event of this kind may be slow; for others its key need not be encoded.
    #[inline]
    pub fn lowest(&self, kind: usize) -> u64 {
        self.lowest.get(kind).copied().unwrap_or(u64::MAX)
    }

    /// All kinds by number, for another reading.
    pub(crate) fn kinds(&self) -> Kinds {
        self.kinds.clone()
    }

    pub(super) fn new(kinds: impl IntoIterator<Item = Arc<EventKind>>) -> Self {
        let kinds: Kinds = kinds.into_iter().collect();
        let count = kinds.list().len();
        Limits { kinds, groups: Groups::default(), folded: vec![None; count], lowest: vec![u64::MAX; count] }
    }

    pub(super) fn fold(&mut self, kind: usize, limit: Option<Limit>) {
        if let Some(limit) = &limit {
            self.lowest[kind] = self.lowest[kind].min(limit.above);
        }
        self.folded[kind] = limit;
    }

    /// All slow durations of these groups are in modes.
    pub(super) fn all_in_modes(&mut self, kind: usize, keys: &[Box<[u8]>]) {
        for key in keys {
            if let Some(limit) = self.groups.get_mut(kind, key) {
                limit.modes = vec![limit.above + 1..=u64::MAX];
            }
        }
    }

    /// Enters the limit of a group, which may have several keys.
    pub(super) fn enter(&mut self, kind: usize, keys: &[Box<[u8]>], limit: &Limit) {
        self.lowest[kind] = self.lowest[kind].min(limit.above);
        keys.iter().for_each(|key| _ = self.groups.entry(kind, key, || limit.clone()));
    }
}
