//! The types of value.

use std::collections::VecDeque;

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
}

/// Elements in the order of insertion at either end.
pub type List = VecDeque<Bytes>;
/// Members without order.
pub type Set = IndexSet<Bytes>;

impl Value {
    /// The number of elements, each of which has to be freed; a string is one.
    pub fn parts(&self) -> usize {
        match self {
            Value::String(_) => 1,
            Value::List(list) => list.len(),
            Value::Hash(hash) => hash.len(),
            Value::Set(set) => set.len(),
        }
    }

    /// Whether it is a collection with nothing left in it, which is the same as no value.
    pub fn is_empty(&self) -> bool {
        !matches!(self, Value::String(_)) && self.parts() == 0
    }

    /// Returns unused capacity to the allocator. Returns whether there was enough of it to matter.
    pub fn compact(&mut self) -> bool {
        match self {
            Value::String(bytes) if is_sparse(bytes.len(), bytes.capacity()) => bytes.shrink_to_fit(),
            Value::List(list) if is_sparse(list.len(), list.capacity()) => list.shrink_to_fit(),
            Value::Hash(hash) if is_sparse(hash.len(), hash.fields.capacity()) => hash.fields.shrink_to_fit(),
            Value::Set(set) if is_sparse(set.len(), set.capacity()) => set.shrink_to_fit(),
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

/// Fields with values, each of which may have an expiry time.
#[derive(Default)]
pub struct Hash {
    fields: IndexMap<Bytes, HashField>,
    /// No field expires before this time; 0 if none has an expiry.
    earliest_expiry: Millis,
}

struct HashField {
    value: Bytes,
    expiry: Option<Millis>,
}

impl Hash {
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// Sets a field, which then has no expiry time. Returns whether it is new.
    pub fn set(&mut self, field: Bytes, value: Bytes) -> bool {
        self.fields.insert(field, HashField { value, expiry: None }).is_none()
    }

    /// Fields, values and expiry times.
    pub fn iter(&self) -> impl Iterator<Item = (&Bytes, &Bytes, Option<Millis>)> {
        self.fields.iter().map(|(name, field)| (name, &field.value, field.expiry))
    }

    /// Sets the expiry time of a field. Returns whether there is such a field.
    pub fn set_expiry(&mut self, field: &[u8], expiry: Millis) -> bool {
        let Some(field) = self.fields.get_mut(field) else { return false };
        field.expiry = Some(expiry);
        if self.earliest_expiry == 0 || expiry < self.earliest_expiry {
            self.earliest_expiry = expiry;
        }
        true
    }

    /// Whether any field may have an expiry time.
    pub fn has_expiring_fields(&self) -> bool {
        self.earliest_expiry != 0
    }

    /// Removes the fields whose time has come. Returns their number.
    pub fn remove_expired(&mut self, now: Millis) -> usize {
        if self.earliest_expiry == 0 || now < self.earliest_expiry {
            return 0;
        }
        let before = self.len();
        self.fields.retain(|_, field| field.expiry.is_none_or(|expiry| expiry > now));
        self.earliest_expiry = self.fields.values().filter_map(|field| field.expiry).min().unwrap_or(0);
        before - self.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hash_loses_exactly_the_expired_fields() {
        let mut hash = Hash::default();
        for (field, expiry) in [("a", None), ("b", Some(10)), ("c", Some(20))] {
            hash.set(field.into(), "value".into());
            expiry.map(|expiry| hash.set_expiry(field.as_bytes(), expiry));
        }
        assert_eq!([9, 10, 20].map(|now| hash.remove_expired(now)), [0, 1, 1]);
        assert_eq!(hash.len(), 1);
        assert!(!hash.has_expiring_fields());
    }
}
