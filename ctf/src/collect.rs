//! Consumers of events in any order.

use std::convert::Infallible;
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::{EventClass, Events, Report};

/// Takes events in and sums them up.
///
/// A reader calls [`want`](Collect::want) once for each event class before that class's first event. It may then
/// [`split`](Collect::split) the collector, feed the parts on several threads in any order, and
/// [`absorb`](Collect::absorb) them again: a collector's result must not depend on that.
///
/// ```text
///            want(class) -> fields        events(…) events(…)
/// Collector <───────────────────── Reader ─────────────────> Collector ──absorb──> Collector
/// ```
///
/// ```
/// # mod made { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/example.rs")); }
/// # use made::*;
/// use std::ops::ControlFlow;
/// use std::sync::Arc;
///
/// use ctf_reader::{Collect, EventClass, Events, Progress, Window};
///
/// /// Keeps names, and has seen enough after two of them.
/// struct Names(Vec<String>);
///
/// impl Collect for Names {
///     type Stop = ();
///
///     fn want(&mut self, class: &Arc<EventClass>) -> Option<Vec<usize>> {
///         Some(vec![class.field("name")?])
///     }
///
///     fn events(&mut self, events: &Events<'_>) -> ControlFlow<()> {
///         for event in events.iter() {
///             self.0.push(format!("{:?}", event.value(0)));
///             if self.0.len() == 2 {
///                 return ControlFlow::Break(());
///             }
///         }
///         ControlFlow::Continue(())
///     }
///
///     fn split(&self) -> Names {
///         Names(Vec::new())
///     }
///
///     fn absorb(&mut self, other: Names) {
///         self.0.extend(other.0);
///     }
/// }
///
/// let read = example().threads(1).read(Window::default(), Names(Vec::new()), &Progress::default());
/// assert_eq!((read.collector.0.len(), read.stopped), (2, Some(())));
/// ```
pub trait Collect: Send + Sized {
    /// Why the collector ends the reading early: an error, `()` if it has seen enough, or [`Infallible`] if it never
    /// does that.
    type Stop: Send;

    /// Which fields of the class to decode, as indexes into [`EventClass::fields`], in the order in which
    /// [`Event::value`](crate::Event::value) shall number them. `None` steps over the class's events.
    fn want(&mut self, class: &Arc<EventClass>) -> Option<Vec<usize>>;

    /// Takes events of a wanted class, or ends the reading.
    fn events(&mut self, events: &Events<'_>) -> ControlFlow<Self::Stop>;

    /// An empty collector that knows the classes this one has seen so far.
    fn split(&self) -> Self;

    /// Adds what another collector has gathered.
    fn absorb(&mut self, other: Self);
}

/// Wants all fields of a class, for consumers that take everything.
pub fn all_fields(class: &Arc<EventClass>) -> Option<Vec<usize>> {
    Some((0..class.fields.len()).collect())
}

/// The result of a reading.
#[derive(Debug)]
pub struct Collected<C: Collect> {
    /// The collector, with all that it gathered.
    pub collector: C,
    /// What was found other than the events.
    pub report: Report,
    /// Why the collector ended the reading early, if it did. The report is then about what was read until then.
    pub stopped: Option<C::Stop>,
}

/// Collects nothing, for readings whose [`Report`] alone matters.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nothing;

impl Collect for Nothing {
    type Stop = Infallible;

    fn want(&mut self, _: &Arc<EventClass>) -> Option<Vec<usize>> {
        None
    }

    fn events(&mut self, _: &Events<'_>) -> ControlFlow<Infallible> {
        ControlFlow::Continue(())
    }

    fn split(&self) -> Nothing {
        Nothing
    }

    fn absorb(&mut self, Nothing: Nothing) {}
}
