//! What a consumer makes of events before they are put in the order of time.

use super::located_events::LocatedEvent;
use crate::Events;
use crate::decode::fast::columns::Marks;

/// What a [`Digester`] keeps of an event: any three words.
pub type Digest = [u64; 3];

/// Works on events where they are read, which may be on several threads at a time, before they are put in the order of time.
///
/// So what does not depend on that order is not left to the one thread that puts events in order, and is done for many
/// events of a class at once.
///
/// ```
/// # mod made { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/example.rs")); }
/// # use made::*;
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
/// assert_eq!(events.next_event().event().unwrap().digest(), [12, 0, 0]);
/// ```
pub trait Digester: Send + Sync {
    /// Digests events of one class, in the order of time or not. There is a digest for each, which is all zeros.
    fn digest(&self, events: &Events<'_>, into: &mut [Digest]);
}

/// An event's place among those that have been located, and where its marks begin.
#[derive(Clone, Copy, Debug)]
pub struct Spot {
    pub place: u32,
    marks: u32,
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
    pub fn sort(&mut self, events: &[LocatedEvent], classes: usize) {
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
            picked.push(Spot { place, marks: event.marks });
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

    fn of(&self, event: usize) -> &[u32] {
        &self.marks[self.spots[event].marks as usize..]
    }

    fn timestamp(&self, event: usize) -> i64 {
        self.events[self.spots[event].place as usize].timestamp
    }

    fn timestamps(&self, into: &mut Vec<i64>) {
        into.extend(self.spots.iter().map(|spot| self.events[spot.place as usize].timestamp));
    }
}
