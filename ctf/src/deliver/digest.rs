//! What a consumer makes of events before they are put in the order of time.

use std::ops::ControlFlow;

use super::located_events::{LocatedEvent, View};
use super::ordered_event::OrderedEvent;
use crate::decode::fast::columns::Marks;
use crate::{ClassIndex, Events};

/// What a [`Digester`] keeps of an event: any two words.
pub type Digest = [u64; 2];

/// Works on events where they are read, which may be on several threads at a time, before they are put in the order of time.
///
/// So what does not depend on that order is not left to the one thread that puts events in order, and is done for many
/// events of a class at once.
///
/// ```
/// # mod made { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/example.rs")); }
/// # use made::*;
/// use std::ops::ControlFlow;
/// use std::sync::Arc;
///
/// use ctf_reader::{Digest, Digester, Events, Field, Step, Wanted, Window};
///
/// struct Durations(Field<u64>);
///
/// impl Digester for Durations {
///     fn digest(&self, events: &Events<'_>, into: &mut [Digest]) {
///         for (event, digest) in events.iter().zip(into) {
///             digest[0] = event.value(self.0);
///         }
///     }
/// }
///
/// let reader = example();
/// let mut wanted = Wanted::of(reader.classes().next().unwrap());
/// let durations = Durations(wanted.field("duration").unwrap());
/// let events = reader.in_order(Window::default(), move |_| Some(wanted.clone()));
/// let mut events = events.with_digester(Arc::new(durations));
/// assert_eq!(events.next_event().event().unwrap().digest(), [12, 0]);
/// // Nothing else is looked for in those that follow.
/// let mut longest = 0;
/// events.next_digests(usize::MAX, |event| {
///     longest = event.digest()[0].max(longest);
///     ControlFlow::Continue(())
/// });
/// assert_eq!(longest, 1);
/// ```
pub trait Digester: Send + Sync {
    /// Digests events of one class, in the order of time or not. There is a digest for each, which is all zeros.
    fn digest(&self, events: &Events<'_>, into: &mut [Digest]);

    /// Marks those of some classes of whose events only the number is needed; some may be marked already. It is asked
    /// before each portion of a packet is located: those of marked classes are counted where they are read, and not handed out.
    fn mark_counted(&self, _classes: &mut dyn Iterator<Item = (ClassIndex, &mut bool)>) {}

    /// Counts events that are not handed out. They may be later than events that are handed out after this.
    fn count(&self, _class: ClassIndex, _events: u64) {}
}

/// Events that come before all others together, with what a [`Digester`] made of them.
#[derive(Clone, Copy)]
pub struct DigestedRun<'a> {
    pub(super) view: &'a View<'a>,
    pub(super) events: &'a [LocatedEvent],
    /// The place of the first among all that have been located with it.
    pub(super) place: usize,
}

impl<'a> DigestedRun<'a> {
    /// The number of events.
    #[inline(always)]
    #[expect(
        clippy::len_without_is_empty,
        reason = "there is one at least, unless it is what is left of a run"
    )]
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// The events after some of the first, which are no more than it has.
    #[inline(always)]
    pub fn after(self, count: usize) -> Self {
        DigestedRun { events: &self.events[count..], place: self.place + count, ..self }
    }

    /// At most this number of the events from one of them on.
    #[inline(always)]
    pub fn part(self, from: usize, most: usize) -> Self {
        let rest = self.after(from);
        DigestedRun { events: &rest.events[..most.min(rest.events.len())], ..rest }
    }

    /// When the first and the last happened, unless there are none: they are in the order of time.
    #[inline(always)]
    pub fn times(&self) -> Option<[i64; 2]> {
        Some([self.events.first()?.timestamp, self.events.last()?.timestamp])
    }

    /// When each happened, its class, and what the [`Digester`] made of it; nothing if there is none.
    #[inline(always)]
    pub fn digests(&self) -> impl Iterator<Item = (i64, ClassIndex, Digest)> + use<'a> {
        let &DigestedRun { view, events, place } = self;
        let digests = view.digests.get(place..).unwrap_or_default();
        let indexes = &*view.plan.indexes;
        let together = events.iter().zip(digests);
        together.map(|(event, digest)| (event.timestamp, indexes[event.position as usize], *digest))
    }

    /// One by one.
    #[inline(always)]
    pub fn iter(&self) -> impl Iterator<Item = DigestedEvent<'a>> + use<'a> {
        let &DigestedRun { view, events, place: first } = self;
        events.iter().enumerate().map(move |(number, located)| DigestedEvent {
            view,
            located,
            place: first + number,
        })
    }

    /// Hands them to a function one by one, until it wants no more of them; says how many it took then.
    #[inline(always)]
    pub fn each(&self, mut take: impl FnMut(DigestedEvent<'a>) -> ControlFlow<()>) -> ControlFlow<usize> {
        for (event, taken) in self.iter().zip(1..) {
            if take(event).is_break() {
                return ControlFlow::Break(taken);
            }
        }
        ControlFlow::Continue(())
    }
}

/// An event of which no more may be needed than its [`Digest`]; see [`InOrder::next_digests`](crate::InOrder::next_digests).
#[derive(Clone, Copy)]
pub struct DigestedEvent<'a> {
    pub(super) view: &'a View<'a>,
    pub(super) located: &'a LocatedEvent,
    /// Its place among all that have been located with it.
    pub(super) place: usize,
}

impl<'a> DigestedEvent<'a> {
    /// When it happened: nanoseconds since 1970.
    #[inline(always)]
    pub fn timestamp(&self) -> i64 {
        self.located.timestamp
    }

    /// The index of its class.
    #[inline(always)]
    pub fn class(&self) -> ClassIndex {
        self.view.plan.indexes[self.located.position as usize]
    }

    /// What the [`Digester`](crate::Digester) made of it; zeros if there is none.
    #[inline(always)]
    pub fn digest(&self) -> Digest {
        self.view.digests.get(self.place).copied().unwrap_or_default()
    }

    /// All of it.
    #[inline(always)]
    pub fn event(&self) -> OrderedEvent<'a> {
        self.view.event(self.located, self.place)
    }
}

/// An event's place among those that have been located, where its marks begin, and the first of them.
#[derive(Clone, Copy, Debug)]
pub struct Spot {
    pub place: u32,
    marks: u32,
    first: u32,
}

/// Which events are of which class.
#[derive(Debug, Default)]
pub struct ByClass {
    /// For each class, by its position in the plan, the events.
    picked: Vec<Vec<Spot>>,
    /// The classes that have any.
    classes: Vec<u32>,
}

impl ByClass {
    /// Sorts events, of one of this number of classes each.
    pub fn sort(&mut self, events: &[LocatedEvent], marks: &[u32], classes: usize) {
        for class in self.classes.drain(..) {
            self.picked[class as usize].clear();
        }
        if self.picked.len() < classes {
            self.picked.resize_with(classes, Vec::new);
        }
        for (event, place) in events.iter().zip(0..) {
            let picked = &mut self.picked[event.position as usize];
            if picked.is_empty() {
                self.classes.push(event.position);
            }
            picked.push(Spot { place, marks: event.marks, first: marks[event.marks as usize] });
        }
    }

    /// The classes that have events, by their positions, and these.
    pub fn classes(&self) -> impl Iterator<Item = (usize, &[Spot])> {
        self.classes.iter().map(|&class| (class as usize, &*self.picked[class as usize]))
    }
}

/// Some of the events that have been located, which are of one class.
pub struct Picked<'a> {
    pub events: &'a [LocatedEvent],
    /// Which of them.
    pub spots: &'a [Spot],
    /// The marks of all events.
    pub marks: &'a [u32],
}

impl Marks for Picked<'_> {
    fn count(&self) -> usize {
        self.spots.len()
    }

    #[inline(always)]
    fn from(&self, mark: usize) -> impl Iterator<Item = &[u32]> {
        self.spots.iter().map(move |spot| &self.marks[spot.marks as usize + mark..])
    }

    #[inline(always)]
    fn each(&self, mark: usize) -> impl Iterator<Item = usize> {
        let is_first = mark == 0;
        self.spots.iter().map(move |spot| match is_first {
            true => spot.first as usize,
            false => self.marks[spot.marks as usize + mark] as usize,
        })
    }

    fn timed(&self, mark: usize) -> impl Iterator<Item = (usize, i64)> {
        self.each(mark).zip(self.spots.iter().map(|spot| self.events[spot.place as usize].timestamp))
    }

    fn of(&self, event: usize) -> &[u32] {
        &self.marks[self.spots[event].marks as usize..]
    }

    fn timestamp(&self, event: usize) -> i64 {
        self.events[self.spots[event].place as usize].timestamp
    }
}
