//! The keys, and everything that must happen when one is read, written or lost.

use std::time::{SystemTime, UNIX_EPOCH};

use indexmap::{IndexMap, IndexSet};
use lttng_provider::traced;
use valkey_trace::valkey_db;

use crate::append_only::Journal;
use crate::resp::Bytes;
use crate::stall;
use crate::threads::Worker;
use crate::value::{Kind, Millis, Value, is_sparse};

/// A value with more parts than this is freed on the second thread when it is evicted or expires.
const LAZY_PARTS: usize = 64;

/// The error of a command for another type of value.
const WRONG_TYPE: &str = "WRONGTYPE Operation against a key holding the wrong kind of value";

struct Entry {
    value: Value,
    expiry: Option<Millis>,
    accessed: Millis,
}

/// All keys. The event loop and the sampler share it under one lock.
pub struct Database {
    entries: IndexMap<Bytes, Entry>,
    /// Keys with an expiry time. Removing one moves the last into its place, so visiting indexes downwards misses none.
    pub expiring: IndexSet<Bytes>,
    /// Hashes with a field that has one, in an order like that.
    pub expiring_fields: IndexSet<Bytes>,
    /// What is to be appended to the append-only file.
    pub journal: Journal,
    /// Frees values on a second thread.
    pub lazy_free: Worker<Value>,
    /// The time, read once a command.
    pub now: Millis,
    /// Changes ever made: a command that leaves it as it was is not journalled.
    pub changes: u64,
    /// Keys deleted because their time had come.
    pub expired: u64,
    /// What the sampler last saw: mean parts a value.
    pub sampled_parts: f64,
}

impl Database {
    pub fn new() -> std::io::Result<Self> {
        Ok(Self {
            entries: IndexMap::new(),
            expiring: IndexSet::new(),
            expiring_fields: IndexSet::new(),
            journal: Journal::default(),
            lazy_free: Worker::start("lazy-free", |_| stall::LAZY_FREE.reached())?,
            now: wall_clock(),
            changes: 0,
            expired: 0,
            sampled_parts: 0.0,
        })
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// The value at `key`, after anything expired is gone; counts as a use of the key.
    pub fn get(&mut self, key: &[u8]) -> Option<&mut Value> {
        self.drop_expired(key);
        let entry = self.entries.get_mut(key)?;
        entry.accessed = self.now;
        Some(&mut entry.value)
    }

    /// The value at `key` as a type; `None` if there is no such key.
    pub fn existing<K: Kind>(&mut self, key: &[u8]) -> Result<Option<&mut K>, &'static str> {
        self.get(key).map(|value| K::of(value).ok_or(WRONG_TYPE)).transpose()
    }

    /// The value at `key` as a type, created if there is none.
    pub fn or_create<K: Kind>(&mut self, key: &[u8]) -> Result<&mut K, &'static str> {
        if self.get(key).is_none() {
            let entry = Entry { value: K::empty(), expiry: None, accessed: self.now };
            self.entries.insert(key.to_vec(), entry);
        }
        let entry = self.entries.get_mut(key).expect("inserted above");
        K::of(&mut entry.value).ok_or(WRONG_TYPE)
    }

    /// Replaces whatever is at `key`, its expiry time included.
    pub fn insert(&mut self, key: Bytes, value: Value, expiry: Option<Millis>) {
        self.forget_expiry(&key);
        self.changes += 1;
        if expiry.is_some() {
            self.expiring.insert(key.clone());
        }
        self.entries.insert(key, Entry { value, expiry, accessed: self.now });
    }

    /// Records `count` changes of the value at `key`, and removes it if it has become empty.
    pub fn changed(&mut self, key: &[u8], count: usize) {
        self.changes += count as u64;
        if self.entries.get(key).is_some_and(|entry| entry.value.is_empty()) {
            self.take(key);
        }
    }

    /// Removes `key` and frees its value at once, however long that takes. Returns whether there was one.
    pub fn remove(&mut self, key: &[u8]) -> bool {
        self.drop_expired(key);
        let value = self.take(key);
        self.changes += u64::from(value.is_some());
        value.is_some()
    }

    /// Removes every key.
    pub fn clear(&mut self) {
        self.changes += self.entries.len() as u64;
        self.expiring.clear();
        self.expiring_fields.clear();
        self.entries = IndexMap::new();
    }

    /// Every key with its value and expiry time, the expired ones too.
    pub fn iter(&self) -> impl Iterator<Item = (&Bytes, &Value, Option<Millis>)> {
        self.entries.iter().map(|(key, entry)| (key, &entry.value, entry.expiry))
    }

    /// Every key that has not expired.
    pub fn keys(&self) -> impl Iterator<Item = &Bytes> {
        let is_live = |expiry: Option<Millis>| expiry.is_none_or(|expiry| expiry > self.now);
        self.iter().filter(move |(_, _, expiry)| is_live(*expiry)).map(|(key, _, _)| key)
    }

    /// The value at an index below [`Self::len`], for the sampler and for compaction.
    pub fn value_at(&mut self, index: usize) -> Option<&mut Value> {
        self.entries.get_index_mut(index).map(|(_, entry)| &mut entry.value)
    }

    /// Of some keys picked at random, the one not used for longest.
    pub fn least_recently_used(&self, samples: usize) -> Option<Bytes> {
        let count = self.entries.len();
        let sampled =
            (0..samples.min(count)).filter_map(|_| self.entries.get_index(fastrand::usize(..count)));
        sampled.min_by_key(|(_, entry)| entry.accessed).map(|(key, _)| key.clone())
    }

    /// Returns unused capacity of the table of keys. Returns whether there was enough of it to matter.
    pub fn compact_table(&mut self) -> bool {
        let is_sparse = is_sparse(self.entries.len(), self.entries.capacity());
        if is_sparse {
            self.entries.shrink_to_fit();
        }
        is_sparse
    }

    /// Deletes `key`, or its fields, if their time has come.
    pub fn drop_expired(&mut self, key: &[u8]) {
        let Some(entry) = self.entries.get_mut(key) else { return };
        if entry.expiry.is_some_and(|expiry| expiry <= self.now) {
            self.delete_expired(key);
        } else if let Value::Hash(hash) = &mut entry.value
            && self.expiring_fields.contains(key)
        {
            // Not journalled: their expiry times are, and they expire again when the journal is replayed.
            let before = hash.len();
            hash.retain(|_, field| field.expiry.is_none_or(|expiry| expiry > self.now));
            let removed = before - hash.len();
            if hash.values().all(|field| field.expiry.is_none()) {
                self.expiring_fields.swap_remove(key);
            }
            if removed > 0 {
                self.changed(key, removed);
            }
        }
    }

    #[traced(valkey_db::expire_del)]
    fn delete_expired(&mut self, key: &[u8]) {
        self.expired += 1;
        self.lose(key);
    }

    /// Deletes `key` to make room.
    #[traced(valkey_db::eviction_del)]
    pub fn evict(&mut self, key: &[u8]) {
        self.lose(key);
    }

    /// Deletes a key that no command has asked to delete; a large value is freed on the second thread.
    fn lose(&mut self, key: &[u8]) {
        if let Some(value) = self.take(key).filter(|value| value.parts() > LAZY_PARTS) {
            self.lazy_free.submit(value);
        }
        self.changes += 1;
        self.journal.record(&[b"DEL", key]);
    }

    fn take(&mut self, key: &[u8]) -> Option<Value> {
        self.forget_expiry(key);
        self.entries.swap_remove(key).map(|entry| entry.value)
    }

    fn forget_expiry(&mut self, key: &[u8]) {
        match self.entries.get(key) {
            Some(Entry { expiry: Some(_), .. }) => self.expiring.swap_remove(key),
            Some(Entry { value: Value::Hash(_), .. }) => self.expiring_fields.swap_remove(key),
            _ => false,
        };
    }
}

/// The time in milliseconds since 1970.
pub fn wall_clock() -> Millis {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_millis() as Millis)
}
