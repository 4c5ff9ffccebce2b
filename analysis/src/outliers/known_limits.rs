//! The limits of groups, found by what events say.

use std::sync::Arc;

use ctf_reader::{Brief, ClassIndex};

use super::verdict::{Limit, Limits};
use crate::groups::{Place, RecentKeys};
use crate::reading::grown;
use crate::slow::SeenEvent;

/// The place of a group that has no limit of its own.
const FOLDED: u32 = u32::MAX;

/// The limits of all groups, and where those of recently seen groups are.
#[derive(Clone, Debug)]
pub(super) struct KnownLimits {
    pub all: Arc<Limits>,
    /// By class.
    recent: Vec<Option<RecentKeys>>,
    buffer: Vec<u8>,
}

impl KnownLimits {
    pub fn new(all: Arc<Limits>) -> Self {
        KnownLimits { all, recent: Vec::new(), buffer: Vec::new() }
    }

    /// The same, without what was seen.
    pub fn emptied(&self) -> Self {
        KnownLimits::new(Arc::clone(&self.all))
    }

    /// The limit of the group that an event belongs to, if it has one.
    #[inline]
    pub fn of(&mut self, seen: &SeenEvent<'_, '_>) -> Option<&Limit> {
        let KnownLimits { all, recent, buffer } = self;
        let (kind, only_key) = (seen.plan.kind, seen.plan.only_key());
        let brief = only_key.map_or(Brief::OTHER, |key| seen.event.stored(key));
        let recent = grown(recent, seen.class).get_or_insert_default();
        if let Some(known) = recent.get(brief) {
            return all.at(kind, Some(Place::Keyed(known)));
        }
        seen.plan.encode_key(seen.event, buffer);
        let place = all.place(kind, buffer);
        if brief != Brief::OTHER {
            let keyed = |place| if let Place::Keyed(number) = place { number } else { FOLDED };
            recent.enter(brief, place.map_or(FOLDED, keyed));
        }
        all.at(kind, place)
    }

    /// Whether the group of a kind that events of a class with each only key belong to has been seen, and its limit.
    #[inline(always)]
    pub fn recent<'l>(
        &'l self,
        class: ClassIndex,
        kind: usize,
    ) -> impl Fn(Brief) -> Option<Option<&'l Limit>> {
        let recent = self.recent.get(class).and_then(Option::as_ref);
        move |key| Some(self.all.at(kind, Some(Place::Keyed(recent?.get(key)?))))
    }
}
