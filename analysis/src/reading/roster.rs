//! All event classes of a reading: the plan and the number of events of each.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::reading::Misfit;
use crate::reading::grown::grown;
use crate::reading::kinds::Kinds;
use crate::reading::plan::{ClassPlan, Unwanted};
use crate::reading::selection::{EventKind, LeftOut, Selection};
use ctf_reader::{ClassIndex, EventClass, Events, Wanted};

/// The plans for all classes so far, shared by the parts of a split collector, and the number of events that each part
/// has seen.
#[derive(Clone, Debug)]
pub(crate) struct Roster {
    plans: Arc<ClassPlans>,
    /// The number of events of each class.
    counts: Vec<u64>,
}

#[derive(Clone, Debug)]
struct ClassPlans {
    selection: Arc<Selection>,
    classes: Vec<Option<ClassEntry>>,
    /// What the plans' events are grouped under.
    kinds: Kinds,
    /// For each of the selection's globs, whether any class matches.
    is_met: Vec<bool>,
}

#[derive(Clone, Debug)]
struct ClassEntry {
    class: Arc<EventClass>,
    plan: Result<ClassPlan, Unwanted>,
}

impl Roster {
    pub fn new(selection: Arc<Selection>) -> Self {
        Roster::with_kinds(selection, Kinds::default())
    }

    /// A roster for another reading, in which the kinds keep their numbers.
    pub fn with_kinds(selection: Arc<Selection>, kinds: Kinds) -> Self {
        let is_met = vec![false; selection.events.len()];
        Roster {
            plans: Arc::new(ClassPlans { selection, classes: Vec::new(), kinds, is_met }),
            counts: Vec::new(),
        }
    }

    /// Makes a plan for the class and says which fields it needs; see [`Collect::want`].
    ///
    /// Classes whose name matches but whose events do not count are wanted too, without any field: they are reported
    /// as left out only if they have events.
    ///
    /// [`Collect::want`]: ctf_reader::Collect::want
    pub fn want(&mut self, class: &Arc<EventClass>) -> Option<Wanted> {
        let mut wanted = Wanted::of(class);
        self.want_besides(class, &mut wanted).then_some(wanted)
    }

    /// Like [`want`](Roster::want), besides fields that are wanted already; says whether the events are wanted.
    pub fn want_besides(&mut self, class: &Arc<EventClass>, wanted: &mut Wanted) -> bool {
        let ClassPlans { selection, classes, kinds, is_met } = Arc::make_mut(&mut self.plans);
        let meaning = selection.dictionary.look_up(class);
        let mut fits = selection.events.is_empty();
        for (glob, is_met) in selection.events.iter().zip(is_met) {
            if glob.fits(class, &meaning) {
                (fits, *is_met) = (true, true);
            }
        }
        let plan = match fits {
            false => Err(Unwanted::Name),
            true => ClassPlan::new(selection, class, &meaning, wanted, |kind| kinds.enter(Arc::new(kind))),
        };
        grown(&mut self.counts, class.index);
        *grown(classes, class.index) = Some(ClassEntry { class: Arc::clone(class), plan });
        fits
    }

    /// Counts events, and gives their class's plan if they count.
    #[inline]
    pub fn count(&mut self, events: &Events<'_>) -> Option<&ClassPlan> {
        self.count_of(events.class, events.count as u64)
    }

    /// The same of a number of events of a class.
    #[inline(always)]
    pub fn count_of(&mut self, class: ClassIndex, events: u64) -> Option<&ClassPlan> {
        *self.counts.get_mut(class)? += events;
        self.plan(class)
    }

    /// The plan for a class whose events count.
    #[inline]
    pub fn plan(&self, class: ClassIndex) -> Option<&ClassPlan> {
        self.plans.classes.get(class)?.as_ref()?.plan.as_ref().ok()
    }

    /// Which events count.
    pub fn selection(&self) -> &Arc<Selection> {
        &self.plans.selection
    }

    /// What the plans' events are grouped under.
    pub fn kinds(&self) -> &[Arc<EventKind>] {
        self.plans.kinds.list()
    }

    /// The number of a kind.
    pub fn kind_number(&self, kind: &EventKind) -> Option<usize> {
        self.plans.kinds.number(kind)
    }

    /// The same plans, without events.
    pub fn emptied(&self) -> Self {
        Roster { plans: Arc::clone(&self.plans), counts: vec![0; self.counts.len()] }
    }

    /// Adds what another roster has seen, and returns the number here of each of its kinds.
    pub fn absorb(&mut self, other: Roster) -> Vec<usize> {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        self.counts.iter_mut().zip(&other.counts).for_each(|(mine, theirs)| *mine += theirs);
        if Arc::ptr_eq(&self.plans, &other.plans) {
            return (0..self.kinds().len()).collect();
        }
        let ClassPlans { classes, kinds, is_met, .. } = Arc::make_mut(&mut self.plans);
        let numbers: Vec<usize> = other.kinds().iter().map(|kind| kinds.enter(Arc::clone(kind))).collect();
        is_met.iter_mut().zip(&other.plans.is_met).for_each(|(mine, theirs)| *mine |= theirs);
        if classes.len() < other.plans.classes.len() {
            classes.resize_with(other.plans.classes.len(), || None);
        }
        for (mine, theirs) in classes.iter_mut().zip(&other.plans.classes) {
            if let (None, Some(theirs)) = (&mine, theirs) {
                let mut theirs = theirs.clone();
                if let Ok(plan) = &mut theirs.plan {
                    plan.kind = numbers[plan.kind];
                }
                *mine = Some(theirs);
            }
        }
        numbers
    }

    /// What was left out, or why the selection does not fit this trace.
    pub fn finish(&self) -> Result<LeftOut, Misfit> {
        let ClassPlans { selection, classes, is_met, .. } = &*self.plans;
        let classes = || classes.iter().flatten();
        if let Some(unmet) = is_met.iter().position(|is_met| !is_met)
            && classes().next().is_some()
        {
            let known = classes().map(|entry| entry.class.name.clone()).collect();
            return Err(Misfit::Event { glob: selection.events[unmet].to_string(), known });
        }
        let met: Vec<(&ClassEntry, u64)> = self.met().collect();
        let derived = classes().any(|entry| entry.class.name == "valkey_module:server");
        let mut left_out = LeftOut { derived, ..LeftOut::default() };
        for (entry, count) in &met {
            let events = match &entry.plan {
                Ok(_) | Err(Unwanted::Name) => continue,
                Err(Unwanted::Repeats) => &mut left_out.repeats,
                Err(Unwanted::WithoutField) => &mut left_out.without_field,
                Err(Unwanted::Mismatch(mismatch)) => return Err(Misfit::Comparison(mismatch.0.clone())),
            };
            *events.entry(entry.class.name.clone()).or_default() += count;
        }
        let dictionary = &selection.dictionary;
        let unknown_field = |name: &str, has: &dyn Fn(&ClassEntry) -> bool| {
            let is_unknown = !met.is_empty() && !met.iter().any(|(entry, _)| has(entry));
            is_unknown.then(|| {
                let known = met.iter().flat_map(|(entry, _)| &entry.class.fields);
                let known: BTreeSet<String> = known.map(|field| field.name.to_string()).collect();
                Misfit::Field { name: name.to_owned(), known }
            })
        };
        for name in selection.wanted_fields() {
            let has =
                |entry: &ClassEntry| dictionary.look_up(&entry.class).field(&entry.class, name).is_some();
            unknown_field(name, &has).map_or(Ok(()), Err)?;
        }
        if let Some((name, _)) = &dictionary.duration {
            let has = |entry: &ClassEntry| entry.class.field(name).is_some();
            unknown_field(name, &has).map_or(Ok(()), Err)?;
            if !met.is_empty()
                && !met.iter().any(|(entry, _)| dictionary.given_duration(&entry.class).is_some())
            {
                return Err(Misfit::Comparison(format!("{name} is not a number: it cannot be the duration")));
            }
        }
        Ok(left_out)
    }

    /// What would not fit if all classes that are known had events: names that none of them has.
    pub fn unknown_name(&self) -> Option<Misfit> {
        let counts = vec![1; self.counts.len()];
        let misfit = Roster { plans: Arc::clone(&self.plans), counts }.finish().err();
        misfit.filter(|misfit| matches!(misfit, Misfit::Event { .. } | Misfit::Field { .. }))
    }

    /// Whether there were no events yet.
    pub fn is_empty(&self) -> bool {
        self.met().next().is_none()
    }

    /// The classes that have events, with their numbers.
    fn met(&self) -> impl Iterator<Item = (&ClassEntry, u64)> {
        let classes = self.plans.classes.iter().zip(&self.counts);
        classes.filter_map(|(entry, &count)| Some((entry.as_ref()?, count))).filter(|(_, count)| *count > 0)
    }
}
