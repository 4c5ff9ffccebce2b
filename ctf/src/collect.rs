//! Consumers of events in any order.

use std::convert::Infallible;
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::{EventClass, Events, Report, Wanted};

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
/// use ctf_reader::{Collect, EventClass, Events, Field, Progress, Wanted, Window};
///
/// /// Keeps names, and has seen enough after two of them.
/// #[derive(Default)]
/// struct Names {
///     /// The field of each class, which the trace numbers from 0.
///     fields: Vec<Option<Field<[u8]>>>,
///     names: Vec<String>,
/// }
///
/// impl Collect for Names {
///     type Stop = ();
///
///     fn want(&mut self, class: &Arc<EventClass>) -> Option<Wanted> {
///         let mut wanted = Wanted::of(class);
///         let field = wanted.field("name");
///         self.fields.push(field);
///         field.map(|_| wanted)
///     }
///
///     fn events(&mut self, events: &Events<'_>) -> ControlFlow<()> {
///         let Some(name) = self.fields[events.class] else { return ControlFlow::Continue(()) };
///         for event in events.iter() {
///             self.names.push(String::from_utf8_lossy(event.value(name)).into_owned());
///             if self.names.len() == 2 {
///                 return ControlFlow::Break(());
///             }
///         }
///         ControlFlow::Continue(())
///     }
///
///     fn split(&self) -> Names {
///         Names { fields: self.fields.clone(), names: Vec::new() }
///     }
///
///     fn absorb(&mut self, other: Names) {
///         self.names.extend(other.names);
///     }
/// }
///
/// let read = example().threads(1).read(Window::default(), Names::default(), &Progress::default());
/// assert_eq!((read.collector.names.len(), read.stopped), (2, Some(())));
/// ```
pub trait Collect: Send + Sized {
    /// Why the collector ends the reading early: an error, `()` if it has seen enough, or [`Infallible`] if it never
    /// does that.
    type Stop: Send;

    /// Which fields of the class to decode. `None` steps over the class's events.
    fn want(&mut self, class: &Arc<EventClass>) -> Option<Wanted>;

    /// Takes events of a wanted class, or ends the reading.
    fn events(&mut self, events: &Events<'_>) -> ControlFlow<Self::Stop>;

    /// Which of the events that were just handed over are wanted in a [later reading](crate::Reader::read_noted), in their order;
    /// none if the collector does not say that.
    fn noted(&self) -> Option<&[usize]> {
        None
    }

    /// An empty collector that knows the classes this one has seen so far.
    fn split(&self) -> Self;

    /// Adds what another collector has gathered.
    fn absorb(&mut self, other: Self);
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

    fn want(&mut self, _: &Arc<EventClass>) -> Option<Wanted> {
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
