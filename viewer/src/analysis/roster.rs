//! All event classes that a reading meets: a plan for each, and how many events it had.

use std::sync::Arc;

use super::plan::{Plan, Unwanted};
use super::selection::{Kind, LeftOut, Misfit, Selection};
use ctf_reader::{ClassIndex, EventClass, Events};

/// The plans for all classes met so far, and what is known of them together.
#[derive(Clone, Debug)]
pub(super) struct Roster {
    selection: Arc<Selection>,
    classes: Vec<Option<Entry>>,
    /// What the plans' events are grouped under.
    pub kinds: Vec<Arc<Kind>>,
}

/// A class whose name fits, and how many events of it there are.
#[derive(Clone, Debug)]
struct Entry {
    class: Arc<EventClass>,
    plan: Result<Plan, Unwanted>,
    events: u64,
}

impl Roster {
    pub fn new(selection: Arc<Selection>) -> Self {
        Roster::with_kinds(selection, Vec::new())
    }

    /// A roster for another reading, in which the kinds keep their places.
    pub fn with_kinds(selection: Arc<Selection>, kinds: Vec<Arc<Kind>>) -> Self {
        Roster { selection, classes: Vec::new(), kinds }
    }

    /// Makes a plan for the class and says which fields it needs; see [`Collect::want`].
    ///
    /// Classes that fit by name but whose events do not count are wanted too, without any field: only
    /// those that have events at all shall be said to be left out.
    ///
    /// [`Collect::want`]: ctf_reader::Collect::want
    pub fn want(&mut self, class: &Arc<EventClass>) -> Option<Vec<usize>> {
        let selection = Arc::clone(&self.selection);
        let meaning = selection.dictionary.look_up(class);
        if !selection.fits(class, &meaning) {
            return None;
        }
        let (plan, fields) = match Plan::new(&selection, class, &meaning, |kind| self.enter(Arc::new(kind))) {
            Ok((plan, fields)) => (Ok(plan), fields),
            Err(unwanted) => (Err(unwanted), Vec::new()),
        };
        if self.classes.len() <= class.index {
            self.classes.resize_with(class.index + 1, || None);
        }
        self.classes[class.index] = Some(Entry { class: Arc::clone(class), plan, events: 0 });
        Some(fields)
    }

    /// Counts events, and gives their class's plan if they count.
    pub fn count(&mut self, events: &Events<'_>) -> Option<&Plan> {
        let entry = self.classes.get_mut(events.class)?.as_mut()?;
        entry.events += events.count as u64;
        entry.plan.as_ref().ok()
    }

    /// The plan for a class whose events count.
    #[inline]
    pub fn plan(&self, class: ClassIndex) -> Option<&Plan> {
        self.classes.get(class)?.as_ref()?.plan.as_ref().ok()
    }

    /// The same plans, and no event yet.
    pub fn emptied(&self) -> Self {
        let mut empty = self.clone();
        empty.classes.iter_mut().flatten().for_each(|entry| entry.events = 0);
        empty
    }

    /// Takes in what another roster met, and says which of our kinds each of its kinds is.
    pub fn absorb(&mut self, other: Roster) -> Vec<usize> {
        if self.classes.len() < other.classes.len() {
            self.classes.resize_with(other.classes.len(), || None);
        }
        let kinds: Vec<usize> = other.kinds.into_iter().map(|kind| self.enter(kind)).collect();
        for (mine, theirs) in self.classes.iter_mut().zip(other.classes) {
            match (mine, theirs) {
                (Some(mine), Some(theirs)) => mine.events += theirs.events,
                (mine @ None, Some(mut theirs)) => {
                    if let Ok(plan) = &mut theirs.plan {
                        plan.kind = kinds[plan.kind];
                    }
                    *mine = Some(theirs);
                }
                (_, None) => {}
            }
        }
        kinds
    }

    /// What was left out, or why the selection makes no sense for this trace.
    pub fn finish(&self) -> Result<LeftOut, Misfit> {
        let mut left_out = LeftOut::default();
        let met: Vec<&Entry> = self.classes.iter().flatten().filter(|entry| entry.events > 0).collect();
        for entry in &met {
            let Err(unwanted) = &entry.plan else { continue };
            let events = match unwanted {
                Unwanted::Repeats => &mut left_out.repeats,
                Unwanted::WithoutField => &mut left_out.without_field,
                Unwanted::Mismatch(mismatch) => return Err(Misfit::Comparison(mismatch.0.clone())),
            };
            *events.entry(entry.class.name.clone()).or_default() += entry.events;
        }
        let dictionary = &self.selection.dictionary;
        for name in self.selection.wanted_fields() {
            let has = |entry: &&Entry| dictionary.look_up(&entry.class).field(&entry.class, name).is_some();
            if !met.is_empty() && !met.iter().any(has) {
                let known = met.iter().flat_map(|entry| &entry.class.fields);
                let known = known.map(|field| field.name.to_string()).collect();
                return Err(Misfit::Field { name: name.to_owned(), known });
            }
        }
        Ok(left_out)
    }

    fn enter(&mut self, kind: Arc<Kind>) -> usize {
        let known = self.kinds.iter().position(|known| *known == kind);
        known.unwrap_or_else(|| {
            self.kinds.push(kind);
            self.kinds.len() - 1
        })
    }
}
