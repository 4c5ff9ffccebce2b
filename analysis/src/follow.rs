//! Single events in time order: those that match the selection and, if wanted, all others.

use std::ops::ControlFlow;
use std::sync::Arc;

use ctf_reader::{EventClass, Field, OrderedEvent, Progress, Reader, Report, Wanted, Window};

use crate::finding::{Notes, TraceFinding};
use crate::reading::{Failure, Roster, Selection};

/// Receives single events in time order.
pub trait Follower {
    /// Why it stops the reading early.
    type Stop;

    /// Takes note of a class whose events may follow. `fields` has all of its fields, in their order.
    fn class(&mut self, class: &Arc<EventClass>, fields: &[Field]);

    /// Receives an event, which matches the selection or not.
    fn event(&mut self, event: &OrderedEvent<'_>, is_match: bool) -> ControlFlow<Self::Stop>;
}

/// What is to be known about events that were followed.
#[derive(Clone, Debug)]
pub struct FollowedEvents {
    /// What was read.
    pub trace: TraceFinding,
    /// The number of events that were shown.
    pub shown: u64,
    /// Notes for the reader.
    pub notes: Notes,
}

impl FollowedEvents {
    /// For what was read and shown.
    pub fn new(report: &Report, shown: usize) -> Self {
        FollowedEvents { trace: TraceFinding::new(report), shown: shown as u64, notes: Notes::default() }
    }
}

/// The result of following events.
pub struct Followed<S> {
    /// What was read.
    pub report: Report,
    /// Why the follower stopped the reading, if it did.
    pub stopped: Option<S>,
}

/// Decides which events match a selection.
pub struct EventMatcher {
    roster: Roster,
    with_others: bool,
}

impl EventMatcher {
    /// For a selection; `with_others` says whether other events are wanted too.
    pub fn new(selection: &Arc<Selection>, with_others: bool) -> EventMatcher {
        EventMatcher { roster: Roster::new(Arc::clone(selection)), with_others }
    }

    /// The fields that the events of a class are needed with. A follower is told if it may see any.
    pub fn class<F: Follower>(&mut self, class: &Arc<EventClass>, follower: &mut F) -> Option<Wanted> {
        let wanted = self.roster.want(class);
        // Its events are counted for the check of the selection, but not shown.
        if self.roster.plan(class.index).is_none() && !self.with_others {
            return wanted;
        }
        let mut wanted = wanted.unwrap_or_else(|| Wanted::of(class));
        let fields: Vec<Field> = (0..class.fields.len()).map(|index| wanted.value_at(index)).collect();
        follower.class(class, &fields);
        Some(wanted)
    }

    /// Whether an event matches; none if it is not wanted at all.
    #[inline]
    pub fn judge(&mut self, event: &OrderedEvent<'_>) -> Option<bool> {
        let of_one = event.events();
        let plan = self.roster.count(&of_one);
        let is_match = plan.is_some_and(|plan| !plan.has_conditions() || plan.admits(&of_one.get(0)));
        (is_match || self.with_others).then_some(is_match)
    }

    /// Checks that the selection makes sense for what was read.
    pub fn check(&self) -> Result<(), Failure> {
        self.roster.finish()?;
        Ok(())
    }
}

/// Passes events to a follower in time order; without `with_others`, only those that match the selection.
pub fn follow<F: Follower>(
    reader: &Reader,
    window: Window,
    selection: &Arc<Selection>,
    with_others: bool,
    follower: &mut F,
    progress: &Progress,
) -> Result<Followed<F::Stop>, Failure> {
    let mut sieve = EventMatcher::new(selection, with_others);
    let mut wanted: Vec<_> = reader.classes().map(|class| sieve.class(class, follower)).collect();
    let take = |class: &Arc<EventClass>| wanted[class.index].take();
    let mut events = reader.in_order(window, take).with_progress(progress);
    let mut stopped = None;
    events.next_events(usize::MAX, |event| {
        if let Some(is_match) = sieve.judge(event)
            && let ControlFlow::Break(stop) = follower.event(event, is_match)
        {
            stopped = Some(stop);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    });
    let report = events.report();
    sieve.check()?;
    Ok(Followed { report, stopped })
}
