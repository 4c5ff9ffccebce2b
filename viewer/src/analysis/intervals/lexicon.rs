//! Interns the names of intervals and of clients.

use ctf_reader::{Brief, OrderedEvent, Value};

use super::interval::IntervalName;
use crate::analysis::groups::table::Groups;
use crate::analysis::reading::key;
use crate::datum::{Datum, Pairs};

/// The most keys and clients that are interned; all others share one number.
const MOST: usize = 1 << 17;

/// The number of keys that are not interned.
const OTHER: u32 = u32::MAX;

/// A kind of interval.
#[derive(Clone, Debug)]
pub struct KindEntry {
    /// The full name of the event, or of the interval that a pair of events makes.
    pub event: String,
    /// The name that the catalog has for it.
    pub known_as: Option<String>,
    /// The names of the fields that identify its groups.
    pub keys: Vec<String>,
    /// Whether it is the outermost that its catalog knows.
    pub is_outermost: bool,
    /// The names, as the catalog has them, of what it can have made slow.
    pub explains: Vec<String>,
}

/// All names so far.
#[derive(Debug, Default)]
pub struct Lexicon {
    kinds: Vec<KindEntry>,
    keys: Numbered,
    clients: Numbered,
    /// The brief form of the empty text, which is no client.
    nobody: Option<Brief>,
}

/// Byte strings, numbered in the order in which they were first seen.
#[derive(Debug, Default)]
struct Numbered {
    numbers: Groups<u32>,
    bytes: Vec<Box<[u8]>>,
}

impl Numbered {
    /// The number of a byte string, found by its brief form where it has one. `encode` writes it in full.
    #[inline]
    fn number(&mut self, space: usize, brief: Brief, encode: impl FnOnce(&mut Vec<u8>)) -> u32 {
        if brief != Brief::OTHER
            && let Some(&mut known) = self.numbers.of_kind(space).recall(brief)
        {
            return known;
        }
        let mut bytes = Vec::new();
        encode(&mut bytes);
        let Numbered { numbers, bytes: known } = self;
        if known.len() >= MOST {
            return numbers.get(space, &bytes).copied().unwrap_or(OTHER);
        }
        let next = known.len() as u32;
        let number = match brief {
            Brief::OTHER => *numbers.entry(space, &bytes, || next),
            brief => *numbers.recallable(space, brief, &bytes, || next),
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

impl Lexicon {
    /// The number of a kind.
    pub fn kind(&mut self, entry: KindEntry) -> u32 {
        let known =
            self.kinds.iter().position(|known| known.event == entry.event && known.keys == entry.keys);
        known.unwrap_or_else(|| {
            self.kinds.push(entry);
            self.kinds.len() - 1
        }) as u32
    }

    /// The name of an interval of a kind. `brief` is the brief form of its only key.
    #[inline]
    pub fn name(&mut self, kind: u32, brief: Brief, encode: impl FnOnce(&mut Vec<u8>)) -> IntervalName {
        IntervalName { kind, key: self.keys.number(kind as usize, brief, encode) }
    }

    /// The number of the client in a field of an event; none for work without a client.
    #[inline]
    pub fn client(&mut self, event: &OrderedEvent<'_>, slot: usize) -> Option<u32> {
        let brief = event.brief(slot);
        let nobody = *self.nobody.get_or_insert_with(|| Brief::from(&Value::Text(b"")));
        if brief == nobody {
            return None;
        }
        let number = self.clients.number(0, brief, |bytes| key::encode(&event.value(slot), bytes));
        (number != OTHER).then_some(number)
    }

    /// All kinds; the number of each is its place.
    pub fn kinds(&self) -> &[KindEntry] {
        &self.kinds
    }

    /// The kind of a name.
    pub fn entry(&self, name: IntervalName) -> &KindEntry {
        &self.kinds[name.kind as usize]
    }

    /// The values that identify a group.
    pub fn key(&self, name: IntervalName) -> Pairs {
        let values = self.keys.get(name.key).map(key::decode).unwrap_or_default();
        Pairs(self.entry(name).keys.iter().cloned().zip(values).collect())
    }

    /// The client with a number.
    pub fn client_value(&self, client: u32) -> Option<Datum> {
        key::decode(self.clients.get(client)?).into_iter().next()
    }

    /// Whether the catalogs allow an interval to contain another one. They decide if both kinds are in a catalog; all
    /// others may.
    pub fn may_contain(&self, outer: IntervalName, inner: IntervalName) -> bool {
        let (outer, inner) = (self.entry(outer), self.entry(inner));
        let (Some(of), Some(_)) = (&outer.known_as, &inner.known_as) else { return true };
        outer.event == inner.event || inner.explains.is_empty() || self.explains(inner, of, 8)
    }

    /// Whether one kind explains another, directly or through others.
    fn explains(&self, kind: &KindEntry, of: &str, depth: usize) -> bool {
        let through = |name: &String| {
            let known = |entry: &&KindEntry| entry.known_as.as_ref() == Some(name);
            depth > 0
                && self.kinds.iter().find(known).is_some_and(|entry| self.explains(entry, of, depth - 1))
        };
        kind.explains.iter().any(|name| name == of || through(name))
    }
}
