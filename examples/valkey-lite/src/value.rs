//! The types of value.

use std::collections::VecDeque;

use indexmap::{IndexMap, IndexSet};

use crate::resp::Bytes;

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
/// Fields by name.
pub type Hash = IndexMap<Bytes, HashField>;

/// A value within a hash.
pub struct HashField {
    pub value: Bytes,
    pub expiry: Option<Millis>,
}

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
            Value::Hash(hash) if is_sparse(hash.len(), hash.capacity()) => hash.shrink_to_fit(),
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
