//! Single events that a reading has noted, so that a later one need not locate all others again.
//!
//! Where an event begins is known only when the one before it has been stepped over. A collector that knows which events it will
//! want again, a small part of all, has them noted; the next reading goes from one to the other:
//!
//! ```text
//! first    │ GET GET SET GET GET GET SET GET ...     every event is located
//! notes    │         ^           ^                   class, place and clock of these
//! second   │        SET         GET                  only these are
//! ```
//!
//! A note takes eight bytes, and memory for them is limited: packets of which not all that was wanted could be noted are read as a
//! whole again.

use std::collections::HashMap;

/// The most bytes of notes that each thread of a reading keeps.
const MOST: usize = 32 << 20;

/// The events that readings of a trace have noted; see [`Collect::noted`](crate::Collect::noted).
#[derive(Debug, Default)]
pub struct NotedEvents {
    /// By the trace, its file, and where in that the packet begins.
    packets: HashMap<PacketKey, PacketNotes>,
}

/// Which packet it is.
pub type PacketKey = (usize, usize, u64);

/// The noted events of a packet.
#[derive(Debug, Default)]
pub struct PacketNotes {
    pub parts: Vec<PartNotes>,
}

/// The noted events of a part of a packet.
#[derive(Clone, Debug, Default)]
pub struct PartNotes {
    /// Where the part begins, in bytes from the packet's beginning, and how long it is.
    pub base: u64,
    pub length: usize,
    /// Whether more is wanted than was noted: the collector did not say what, or it cannot be noted.
    pub is_incomplete: bool,
    batches: Vec<BatchNotes>,
    /// Where what follows the header of each event begins, in bytes from the part's beginning, and how much later than
    /// the first of its batch it happened, by the clock's count.
    events: Vec<[u32; 2]>,
}

/// Events of one class, one after the other.
#[derive(Clone, Copy, Debug)]
struct BatchNotes {
    /// The position of their class in the plan of their stream.
    class: u32,
    count: u32,
    /// The clock's count of the first.
    clock: u64,
}

/// A noted event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotedEvent {
    /// The position of its class.
    pub class: usize,
    /// Where in the part what follows its header begins.
    pub at: usize,
    /// The clock's count.
    pub clock: u64,
}

impl NotedEvents {
    /// What was noted of a packet, if that is all that was wanted of it.
    pub(crate) fn of(&self, packet: PacketKey) -> Option<&PacketNotes> {
        self.packets.get(&packet)
    }

    /// Adds what a reading has noted.
    pub(crate) fn extend(&mut self, packets: Vec<(PacketKey, PacketNotes)>) {
        self.packets.extend(packets);
    }
}

impl PacketNotes {
    /// How much memory they take, in bytes.
    fn size(&self) -> usize {
        let of_part = |part: &PartNotes| {
            size_of_val(&*part.batches) + size_of_val(&*part.events) + size_of::<PartNotes>()
        };
        size_of::<(PacketKey, PacketNotes)>() + self.parts.iter().map(of_part).sum::<usize>()
    }

    /// Gives back memory that is not used.
    fn shrink(&mut self) {
        self.parts.shrink_to_fit();
        for part in &mut self.parts {
            part.batches.shrink_to_fit();
            part.events.shrink_to_fit();
        }
    }

    fn is_complete(&self) -> bool {
        self.parts.iter().all(|part| !part.is_incomplete)
    }
}

impl PartNotes {
    /// Whether no event is noted.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Notes events of a class that follow each other, with the clock's count of each and where it begins.
    pub fn add(&mut self, class: usize, events: impl Iterator<Item = (u64, u32)>) {
        let class = class as u32;
        for (clock, at) in events {
            let of_last = self.batches.last_mut().filter(|last| last.class == class).and_then(|last| {
                let passed = u32::try_from(clock.checked_sub(last.clock)?).ok()?;
                last.count += 1;
                Some(passed)
            });
            if of_last.is_none() {
                self.batches.push(BatchNotes { class, count: 1, clock });
            }
            self.events.push([at, of_last.unwrap_or(0)]);
        }
    }

    /// The events, those of a batch one after the other.
    pub fn events(&self) -> impl Iterator<Item = NotedEvent> {
        let mut rest = &self.events[..];
        self.batches.iter().flat_map(move |&BatchNotes { class, count, clock }| {
            let (of_batch, others) = rest.split_at(count as usize);
            rest = others;
            let noted = move |&[at, passed]: &[u32; 2]| NotedEvent {
                class: class as usize,
                at: at as usize,
                clock: clock + u64::from(passed),
            };
            of_batch.iter().map(noted)
        })
    }
}

/// What one thread notes.
#[derive(Debug, Default)]
pub struct Noting {
    pub packets: Vec<(PacketKey, PacketNotes)>,
    /// How much memory all of them take.
    size: usize,
}

impl Noting {
    /// Keeps what was noted of a packet that was read to its end, if it is complete and there is room.
    pub fn keep(&mut self, packet: PacketKey, mut notes: PacketNotes) {
        if !notes.is_complete() {
            return;
        }
        let size = self.size + notes.size();
        if size <= MOST {
            self.size = size;
            notes.shrink();
            self.packets.push((packet, notes));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_noted_in_their_order() {
        let seed = fastrand::u64(..);
        let mut random = fastrand::Rng::with_seed(seed);
        for round in 0..200 {
            let (mut notes, mut expected) = (PartNotes::default(), Vec::new());
            let mut clock = random.u64(..) >> random.u32(..64);
            for _ in 0..random.usize(..20) {
                let class = random.usize(..3);
                let events: Vec<(u64, u32)> = (0..random.usize(..6))
                    .map(|_| {
                        // Now and then for longer than a note can say; between batches the clock may step back.
                        clock = clock.saturating_add(random.u64(..) >> random.u32(28..64));
                        (clock, random.u32(..))
                    })
                    .collect();
                notes.add(class, events.iter().copied());
                expected.extend(events.iter().map(|&(clock, at)| NotedEvent {
                    class,
                    at: at as usize,
                    clock,
                }));
                clock = clock.saturating_sub(random.u64(..100));
            }
            let noted: Vec<_> = notes.events().collect();
            assert!(noted == expected, "seed {seed}, round {round}");
        }
    }

    #[test]
    fn a_packet_is_kept_if_all_of_it_was_noted_and_there_is_room() {
        let packet = |events: usize, is_incomplete| {
            let mut part = PartNotes { is_incomplete, ..PartNotes::default() };
            part.add(0, (0..events).map(|event| (event as u64, 0)));
            PacketNotes { parts: vec![PartNotes::default(), part] }
        };
        let mut noting = Noting::default();
        noting.keep((0, 0, 0), packet(5, true));
        noting.keep((0, 0, 1), packet(MOST / 8 - 100, false));
        noting.keep((0, 0, 2), packet(100, false));
        noting.keep((0, 0, 3), packet(5, false));
        assert!(noting.size <= MOST && noting.size > MOST - 800, "{}", noting.size);
        let kept: Vec<u64> = noting.packets.iter().map(|((.., offset), _)| *offset).collect();
        assert_eq!(kept, [1, 3]);
    }
}
