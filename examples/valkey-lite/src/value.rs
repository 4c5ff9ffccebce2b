//! The five types of value.

use std::collections::{BTreeSet, VecDeque};

use indexmap::{IndexMap, IndexSet};

use crate::request::Bytes;

/// Milliseconds since 1970, as expiry times are given.
pub type Millis = u64;

/// What a key holds.
pub enum Value {
    String(Bytes),
    List(List),
    Hash(Hash),
    Set(Set),
    SortedSet(SortedSet),
}

/// Elements in the order of insertion at either end.
pub type List = VecDeque<Bytes>;
/// Members without order; indexed, so that one can be picked at random.
pub type Set = IndexSet<Bytes>;

impl Value {
    /// The type's name as TYPE tells it.
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::String(_) => "string",
            Value::List(_) => "list",
            Value::Hash(_) => "hash",
            Value::Set(_) => "set",
            Value::SortedSet(_) => "zset",
        }
    }

    /// How many elements it has, each of which has to be freed; a string is one.
    pub fn parts(&self) -> usize {
        match self {
            Value::String(_) => 1,
            Value::List(list) => list.len(),
            Value::Hash(hash) => hash.len(),
            Value::Set(set) => set.len(),
            Value::SortedSet(set) => set.len(),
        }
    }

    /// Whether it is an aggregate with nothing left in it, which is the same as no value.
    pub fn is_empty(&self) -> bool {
        !matches!(self, Value::String(_)) && self.parts() == 0
    }

    /// Gives back room that is reserved and mostly unused. Returns whether there was any.
    pub fn compact(&mut self) -> bool {
        match self {
            Value::String(bytes) if is_sparse(bytes.len(), bytes.capacity()) => bytes.shrink_to_fit(),
            Value::List(list) if is_sparse(list.len(), list.capacity()) => list.shrink_to_fit(),
            Value::Hash(hash) if is_sparse(hash.len(), hash.fields.capacity()) => hash.fields.shrink_to_fit(),
            Value::Set(set) if is_sparse(set.len(), set.capacity()) => set.shrink_to_fit(),
            Value::SortedSet(set) if is_sparse(set.len(), set.scores.capacity()) => {
                set.scores.shrink_to_fit()
            }
            _ => return false,
        }
        true
    }
}

/// Whether a table is worth compacting: large, and less than half used.
pub fn is_sparse(used: usize, capacity: usize) -> bool {
    capacity > 64 && used < capacity / 2
}

/// A type of value that commands ask for by name.
pub trait Kind: Sized {
    /// An empty one.
    fn empty() -> Value;
    /// The value as this type, if it is.
    fn of(value: &mut Value) -> Option<&mut Self>;
}

macro_rules! kind {
    ($type:ty, $variant:ident) => {
        impl Kind for $type {
            fn empty() -> Value {
                Value::$variant(Default::default())
            }
            fn of(value: &mut Value) -> Option<&mut Self> {
                if let Value::$variant(inner) = value { Some(inner) } else { None }
            }
        }
    };
}
kind!(Bytes, String);
kind!(List, List);
kind!(Hash, Hash);
kind!(Set, Set);
kind!(SortedSet, SortedSet);

/// A type whose parts are known by name.
pub trait Members: Kind {
    /// Removes one. Returns whether it was there.
    fn remove(&mut self, member: &[u8]) -> bool;
}

impl Members for Set {
    fn remove(&mut self, member: &[u8]) -> bool {
        self.swap_remove(member)
    }
}

impl Members for Hash {
    fn remove(&mut self, field: &[u8]) -> bool {
        self.fields.swap_remove(field).is_some()
    }
}

impl Members for SortedSet {
    fn remove(&mut self, member: &[u8]) -> bool {
        let Some(score) = self.scores.swap_remove(member) else { return false };
        self.order.remove(&(Score(score), member.to_vec()))
    }
}

/// Fields with values, each of which may have an expiry time.
#[derive(Default)]
pub struct Hash {
    fields: IndexMap<Bytes, Field>,
    /// No field expires before this time; 0 if none has an expiry.
    earliest_expiry: Millis,
}

struct Field {
    value: Bytes,
    expiry: Option<Millis>,
}

impl Hash {
    /// The value as a hash, if it is one.
    pub fn of_ref(value: &Value) -> Option<&Hash> {
        if let Value::Hash(hash) = value { Some(hash) } else { None }
    }

    pub fn len(&self) -> usize {
        self.fields.len()
    }

    pub fn get(&self, field: &[u8]) -> Option<&Bytes> {
        self.fields.get(field).map(|field| &field.value)
    }

    /// Sets a field, which then has no expiry time. Returns whether it is new.
    pub fn set(&mut self, field: Bytes, value: Bytes) -> bool {
        self.fields.insert(field, Field { value, expiry: None }).is_none()
    }

    /// Fields, values and expiry times.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&Bytes, &Bytes, Option<Millis>)> {
        self.fields.iter().map(|(name, field)| (name, &field.value, field.expiry))
    }

    /// The field's expiry time: `None` if there is no such field.
    pub fn expiry(&self, field: &[u8]) -> Option<Option<Millis>> {
        self.fields.get(field).map(|field| field.expiry)
    }

    /// Sets or clears the expiry time of a field that exists.
    pub fn set_expiry(&mut self, field: &[u8], expiry: Option<Millis>) {
        let Some(field) = self.fields.get_mut(field) else { return };
        field.expiry = expiry;
        if let Some(expiry) = expiry
            && (self.earliest_expiry == 0 || expiry < self.earliest_expiry)
        {
            self.earliest_expiry = expiry;
        }
    }

    /// Whether any field may have an expiry time.
    pub fn has_expiring_fields(&self) -> bool {
        self.earliest_expiry != 0
    }

    /// Removes the fields whose time has come and returns their names.
    pub fn remove_expired(&mut self, now: Millis) -> Vec<Bytes> {
        if self.earliest_expiry == 0 || now < self.earliest_expiry {
            return Vec::new();
        }
        let is_expired = |field: &Field| field.expiry.is_some_and(|expiry| expiry <= now);
        let expired = self.fields.iter().filter(|(_, field)| is_expired(field)).map(|(name, _)| name.clone());
        let expired: Vec<Bytes> = expired.collect();
        self.fields.retain(|_, field| !is_expired(field));
        self.earliest_expiry = self.fields.values().filter_map(|field| field.expiry).min().unwrap_or(0);
        expired
    }
}

/// Members ordered by score, then by name.
#[derive(Default)]
pub struct SortedSet {
    scores: IndexMap<Bytes, f64>,
    order: BTreeSet<(Score, Bytes)>,
}

/// A score; never NaN, so that all are in one order.
#[derive(Clone, Copy, PartialEq)]
struct Score(f64);

impl Eq for Score {}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Score {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        // Adding 0.0 turns -0.0 into 0.0, which `total_cmp` would tell apart.
        (self.0 + 0.0).total_cmp(&(other.0 + 0.0))
    }
}

impl SortedSet {
    pub fn len(&self) -> usize {
        self.scores.len()
    }

    pub fn score(&self, member: &[u8]) -> Option<f64> {
        self.scores.get(member).copied()
    }

    /// Sets a member's score. Returns the score it had.
    pub fn set(&mut self, member: &[u8], score: f64) -> Option<f64> {
        let former = self.scores.insert(member.to_vec(), score);
        if former != Some(score) {
            if let Some(former) = former {
                self.order.remove(&(Score(former), member.to_vec()));
            }
            self.order.insert((Score(score), member.to_vec()));
        }
        former
    }

    /// Members and scores in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&Bytes, f64)> {
        self.order.iter().map(|(score, member)| (member, score.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_loses_exactly_the_expired_fields() {
        let mut hash = Hash::default();
        for (field, expiry) in [("a", None), ("b", Some(10)), ("c", Some(20))] {
            hash.set(field.into(), "value".into());
            hash.set_expiry(field.as_bytes(), expiry);
        }
        assert!(hash.remove_expired(9).is_empty());
        assert_eq!(hash.remove_expired(10), [b"b"]);
        assert_eq!(hash.remove_expired(20), [b"c"]);
        assert_eq!(hash.len(), 1);
        assert!(!hash.has_expiring_fields());
    }

    #[test]
    fn a_changed_score_moves_the_member() {
        let mut set = SortedSet::default();
        for (member, score) in [("a", 1.0), ("b", 2.0), ("c", -0.0), ("a", 3.0)] {
            set.set(member.as_bytes(), score);
        }
        let members: Vec<_> = set.iter().map(|(member, _)| member.as_slice()).collect();
        assert_eq!(members, [b"c", b"b", b"a"]);
        assert!(set.remove(b"c") && !set.remove(b"c"));
    }
}
