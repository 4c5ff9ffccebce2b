//! Interns the names of intervals and of clients.

use std::sync::Arc;

use ctf_reader::{Brief, Field, OrderedEvent};

use super::interval::IntervalName;
use crate::datum::{Datum, Pairs};
use crate::groups::table::Groups;
use crate::reading::{EventKind, key};

/// The most keys and clients that are interned; all others share one number.
const MOST: usize = IntervalName::MOST_KEYS;
const OTHER: u32 = u32::MAX;

/// The names of commands that hold clients back after their end, as events say them: CLIENT PAUSE.
const HOLDING: [&[u8]; 2] = [b"pause", b"client|pause"];

/// Events that a server records only while something blocks its loop: a command, whose part they are then, or loading data.
const WHILE_BLOCKED: &str = "valkey_server:while_blocked_cron";

/// A kind of interval.
#[derive(Clone, Debug)]
pub struct KindEntry {
    /// The events that end it; of a pair of events, with the name of the interval.
    pub kind: Arc<EventKind>,
    /// The name that the catalog has for it.
    pub known_as: Option<String>,
    /// Whether it is the outermost that its catalog knows.
    pub is_outermost: bool,
    /// Whether its events have a field for the client, which some servers do not tell.
    pub is_request: bool,
    /// The names, as the catalog has them, of what it can have made slow.
    pub explains: Vec<String>,
}

impl KindEntry {
    /// Whether it occurs only while something blocks the loop.
    pub fn is_while_blocked(&self) -> bool {
        self.known_as.as_deref() == Some(WHILE_BLOCKED)
    }
}

/// All kinds of intervals so far; the number of each is its place.
#[derive(Clone, Debug, Default)]
pub struct IntervalKinds(Vec<KindEntry>);

/// All names so far.
#[derive(Debug, Default)]
pub struct Lexicon {
    pub kinds: IntervalKinds,
    keys: Numbered,
    clients: Numbered,
    /// The names of commands that hold clients back, and the number of keys among which they were looked for.
    holding: Vec<IntervalName>,
    looked_at: usize,
}

/// Byte strings, numbered in the order in which they were first seen.
#[derive(Debug, Default)]
struct Numbered {
    numbers: Groups<u32>,
    bytes: Vec<Box<[u8]>>,
    /// How often one was met that has no number of its own.
    shared: u64,
}

impl Numbered {
    /// The number of a byte string, found by its brief form where it has one. `encode` writes it in full.
    #[inline(always)]
    fn number(&mut self, space: usize, brief: Brief, encode: impl FnOnce(&mut Vec<u8>)) -> u32 {
        let of_space = self.numbers.of_kind(space);
        // What has no key at all has one number.
        match of_space.recall(brief).copied().or(of_space.keyless()) {
            Some(known) => known,
            None => {
                let mut bytes = Vec::new();
                encode(&mut bytes);
                self.look_up(space, brief, bytes)
            }
        }
    }

    #[inline(never)]
    fn look_up(&mut self, space: usize, brief: Brief, bytes: Vec<u8>) -> u32 {
        let Numbered { numbers, bytes: known, shared } = self;
        if known.len() >= MOST {
            return numbers.get(space, &bytes).copied().unwrap_or_else(|| {
                *shared += 1;
                OTHER
            });
        }
        let next = known.len() as u32;
        let number = match brief == Brief::OTHER {
            true => *numbers.entry(space, &bytes, || next),
            false => *numbers.recallable(space, brief, &bytes, || next),
        };
        if number == next {
            known.push(bytes.into());
        }
        number
    }

    fn get(&self, number: u32) -> Option<&[u8]> {
        self.bytes.get(number as usize).map(|bytes| &**bytes)
    }
}

impl KindEntry {
    /// The resolution of its durations, in nanoseconds.
    #[inline]
    pub fn tick(&self) -> i64 {
        self.kind.unit_ns() as i64
    }
}

impl IntervalKinds {
    /// The number of a kind, added if it is new.
    pub fn enter(&mut self, entry: KindEntry) -> u32 {
        let known = self.0.iter().position(|known| known.kind == entry.kind);
        known.unwrap_or_else(|| {
            self.0.push(entry);
            self.0.len() - 1
        }) as u32
    }

    /// Adds those that others have more.
    pub fn follow(&mut self, others: &IntervalKinds) {
        self.0.extend_from_slice(&others.0[self.0.len()..]);
    }

    /// The kinds in the order of their numbers.
    pub fn list(&self) -> &[KindEntry] {
        &self.0
    }

    /// The kind of a name.
    #[inline]
    pub fn of(&self, name: IntervalName) -> &KindEntry {
        &self.0[name.kind as usize]
    }

    /// Whether the catalogs allow an interval to contain another one. They decide if both kinds are in a catalog; all
    /// others may.
    pub fn may_contain(&self, outer: IntervalName, inner: IntervalName) -> bool {
        let (outer, inner) = (self.of(outer), self.of(inner));
        let (Some(of), Some(_)) = (&outer.known_as, &inner.known_as) else { return true };
        outer.kind.event == inner.kind.event || inner.explains.is_empty() || self.explains(inner, of, 8)
    }

    /// Whether one kind explains another, directly or through others.
    fn explains(&self, kind: &KindEntry, of: &str, depth: usize) -> bool {
        let through = |name: &String| {
            let known = |entry: &&KindEntry| entry.known_as.as_ref() == Some(name);
            depth > 0 && self.0.iter().find(known).is_some_and(|entry| self.explains(entry, of, depth - 1))
        };
        kind.explains.iter().any(|name| name == of || through(name))
    }
}

impl Lexicon {
    /// The name of an interval of a kind. `brief` is the brief form of its only key.
    #[inline]
    pub fn name(&mut self, kind: u32, brief: Brief, encode: impl FnOnce(&mut Vec<u8>)) -> IntervalName {
        IntervalName { kind, key: self.keys.number(kind as usize, brief, encode) }
    }

    /// Whether a command, whose name was asked for last, holds clients back after its end.
    #[inline(always)]
    pub fn holds_back(&mut self, name: IntervalName) -> bool {
        if self.keys.bytes.len() > self.looked_at {
            self.look_at(name);
        }
        !self.holding.is_empty() && self.holding.contains(&name)
    }

    #[cold]
    fn look_at(&mut self, name: IntervalName) {
        self.looked_at = self.keys.bytes.len();
        let holds = |(_, value): &(String, Datum)| matches!(value, Datum::Text(text) if HOLDING.iter().any(|name| text.eq_ignore_ascii_case(name)));
        if name.key as usize + 1 == self.looked_at && self.key(name).0.iter().any(holds) {
            self.holding.push(name);
        }
    }

    /// The number of the client in a field of an event; none for work without a client.
    #[inline(always)]
    pub fn client(&mut self, event: &OrderedEvent<'_>, field: Field) -> Option<u32> {
        let brief = event.brief(field);
        // The empty text is no client.
        if brief == Brief::text(b"", 0) {
            return None;
        }
        let number = self.clients.number(0, brief, |bytes| key::encode(&event.value(field), bytes));
        (number != OTHER).then_some(number)
    }

    /// The values that identify a group.
    pub fn key(&self, name: IntervalName) -> Pairs {
        let values = self.keys.get(name.key).map(key::decode).unwrap_or_default();
        Pairs(self.kinds.of(name).kind.keys.iter().cloned().zip(values).collect())
    }

    /// The key of a group, as bytes; none if there were too many to tell them apart.
    pub fn key_bytes(&self, name: IntervalName) -> Option<&[u8]> {
        self.keys.get(name.key)
    }

    /// How often a name and a client were met that have no number of their own.
    pub fn shared(&self) -> (u64, u64) {
        (self.keys.shared, self.clients.shared)
    }

    /// How many names or clients are known, as a share of the most.
    pub fn fullness(&self) -> f64 {
        self.keys.bytes.len().max(self.clients.bytes.len()) as f64 / MOST as f64
    }

    /// The number of clients that are known.
    pub fn clients(&self) -> u64 {
        self.clients.bytes.len() as u64
    }

    /// All clients, by their numbers.
    pub fn all_clients(&self) -> Vec<Datum> {
        let client = |number| self.client_value(number).unwrap_or_else(|| Datum::Text(Vec::new()));
        (0..self.clients.bytes.len() as u32).map(client).collect()
    }

    /// The client with a number.
    pub fn client_value(&self, client: u32) -> Option<Datum> {
        key::decode(self.clients.get(client)?).into_iter().next()
    }
}
