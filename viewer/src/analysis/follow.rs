//! Single events in the order of time, those that the selection asks for and, if need be, all others.

use std::ops::ControlFlow;
use std::sync::Arc;

use ctf_reader::{EventClass, OrderedEvent, Progress, Reader, Window};

use super::finding::TraceFinding;
use super::reading::Failure;
use super::roster::Roster;
use super::selection::Selection;
use super::slots::Slots;

/// Takes single events in the order of time.
pub trait Follower {
    /// Why it ends the reading early.
    type Stop;

    /// Takes note of a class whose events may follow. `slots` says for each of its fields where its value is.
    fn class(&mut self, class: &Arc<EventClass>, slots: &[usize]);

    /// Takes an event, which the selection asks for or not.
    fn event(&mut self, event: &OrderedEvent<'_>, is_match: bool) -> ControlFlow<Self::Stop>;
}

/// What came of following events.
pub struct Followed<S> {
    /// What was read.
    pub trace: TraceFinding,
    /// Why the follower ended the reading, if it did.
    pub stopped: Option<S>,
}

/// Hands events over in the order of time. Without `with_others`, only those that the selection asks for.
pub fn follow<F: Follower>(
    reader: &Reader,
    window: Window,
    selection: &Arc<Selection>,
    with_others: bool,
    follower: &mut F,
    progress: &Progress,
) -> Result<Followed<F::Stop>, Failure> {
    let mut roster = Roster::new(Arc::clone(selection));
    let want = |class: &Arc<EventClass>| {
        let wanted = roster.want(class);
        let mut slots = Slots(match roster.plan(class.index) {
            Some(_) => wanted.unwrap_or_default(),
            // Its events count for what is said of the selection, but are not shown.
            None if !with_others => return wanted,
            None => Vec::new(),
        });
        let places: Vec<usize> = (0..class.fields.len()).map(|field| slots.of(field)).collect();
        follower.class(class, &places);
        Some(slots.0)
    };
    let mut wanted: Vec<_> = reader.classes().map(want).collect();
    let take = |class: &Arc<EventClass>| wanted[class.index].take();
    let mut events = reader.in_order(window, take).with_progress(progress);
    let mut stopped = None;
    while let Some(event) = events.next_event() {
        let of_one = event.events();
        let plan = roster.count(&of_one);
        let is_match = plan.is_some_and(|plan| !plan.has_conditions() || plan.admits(&of_one.get(0)));
        if (is_match || with_others)
            && let ControlFlow::Break(stop) = follower.event(&event, is_match)
        {
            stopped = Some(stop);
            break;
        }
    }
    let trace = TraceFinding::new(&events.report());
    roster.finish()?;
    Ok(Followed { trace, stopped })
}
