//! The keys, and everything that must happen when one is read, written or lost.

use std::time::{SystemTime, UNIX_EPOCH};

use indexmap::{IndexMap, IndexSet};
use lttng_provider::traced;
use valkey_trace::valkey_db;

use crate::journal::Journal;
use crate::request::Bytes;
use crate::value::{Hash, Kind, Millis, Value, is_sparse};
use crate::worker::Worker;

/// A value with more parts than this is freed on the second thread where that is asked for.
const LAZY_PARTS: usize = 64;

/// The error of a command for another type of value.
pub struct WrongType;

struct Entry {
    value: Value,
    expiry: Option<Millis>,
    accessed: Millis,
    version: u64,
}

/// All keys. The event loop and the sampler share it under one lock.
pub struct Database {
    entries: IndexMap<Bytes, Entry>,
    /// Keys with an expiry time.
    expiring: IndexSet<Bytes>,
    /// Hashes with a field that has one.
    expiring_fields: IndexSet<Bytes>,
    /// What is to be appended to the append-only file.
    pub journal: Journal,
    /// Frees values on a second thread.
    pub lazy_free: Worker<Value>,
    /// The time, read once a command.
    pub now: Millis,
    /// Changes ever made: a command that leaves it as it was is not journalled.
    pub changes: u64,
    /// Keys deleted because their time had come, and to make room.
    pub expired: u64,
    pub evicted: u64,
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
            lazy_free: Worker::start("lazy-free", drop)?,
            now: wall_clock(),
            changes: 0,
            expired: 0,
            evicted: 0,
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
    pub fn existing<K: Kind>(&mut self, key: &[u8]) -> Result<Option<&mut K>, WrongType> {
        self.get(key).map(|value| K::of(value).ok_or(WrongType)).transpose()
    }

    /// The value at `key` as a type, created if it is not there. Marks the key as changed.
    pub fn or_create<K: Kind>(&mut self, key: &[u8]) -> Result<&mut K, WrongType> {
        self.drop_expired(key);
        let (now, version) = (self.now, self.changes + 1);
        if !self.entries.contains_key(key) {
            self.entries
                .insert(key.to_vec(), Entry { value: K::empty(), expiry: None, accessed: now, version });
        }
        let entry = self.entries.get_mut(key).expect("inserted above");
        let value = K::of(&mut entry.value).ok_or(WrongType)?;
        (entry.accessed, entry.version) = (now, version);
        Ok(value)
    }

    /// Puts a value at `key` in the place of whatever was there, its expiry time included.
    pub fn insert(&mut self, key: Bytes, value: Value) {
        self.forget_expiry(&key);
        self.changes += 1;
        let entry = Entry { value, expiry: None, accessed: self.now, version: self.changes };
        self.entries.insert(key, entry);
    }

    /// Records `count` changes of the value at `key`, and removes it if it has become empty.
    pub fn changed(&mut self, key: &[u8], count: u64) {
        self.changes += count;
        let Some(entry) = self.entries.get_mut(key) else { return };
        entry.version = self.changes;
        if entry.value.is_empty() {
            self.take(key);
        }
    }

    /// Removes `key` and returns its value.
    pub fn remove(&mut self, key: &[u8]) -> Option<Value> {
        self.drop_expired(key);
        let value = self.take(key)?;
        self.changes += 1;
        Some(value)
    }

    /// Frees a value: a large one on the second thread.
    pub fn free_lazily(&self, value: Value) {
        if value.parts() > LAZY_PARTS {
            self.lazy_free.submit(value);
        }
    }

    /// Removes every key, leaving the freeing to the second thread if asked to.
    pub fn clear(&mut self, lazily: bool) {
        self.changes += self.entries.len() as u64;
        self.expiring.clear();
        self.expiring_fields.clear();
        let entries = std::mem::take(&mut self.entries);
        if lazily {
            entries.into_values().for_each(|entry| self.free_lazily(entry.value));
        }
    }

    /// The expiry time of `key`: `None` if there is no such key.
    pub fn expiry(&mut self, key: &[u8]) -> Option<Option<Millis>> {
        self.drop_expired(key);
        self.entries.get(key).map(|entry| entry.expiry)
    }

    /// Sets or clears the expiry time of a key that exists.
    pub fn set_expiry(&mut self, key: &[u8], expiry: Option<Millis>) {
        let Some(entry) = self.entries.get_mut(key) else { return };
        self.changes += 1;
        (entry.expiry, entry.version) = (expiry, self.changes);
        match expiry {
            Some(_) => self.expiring.insert(key.to_vec()),
            None => self.expiring.swap_remove(key),
        };
    }

    /// Has the fields' cycle look after the hash at `key`.
    pub fn watch_fields(&mut self, key: &[u8]) {
        self.expiring_fields.insert(key.to_vec());
    }

    /// Tells two states of a key apart: `None` if there is no such key.
    pub fn version(&mut self, key: &[u8]) -> Option<u64> {
        self.drop_expired(key);
        self.entries.get(key).map(|entry| entry.version)
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

    /// The key at an index below [`Self::len`]. Removing a key moves the last one into its place: who walks
    /// downwards meets every key that stays, at least once.
    pub fn key_at(&self, index: usize) -> Option<&Bytes> {
        self.entries.get_index(index).map(|(key, _)| key)
    }

    /// The value at an index, for the sampler and for compaction.
    pub fn value_at(&mut self, index: usize) -> Option<&mut Value> {
        self.entries.get_index_mut(index).map(|(_, entry)| &mut entry.value)
    }

    /// Of some keys picked at random (with an expiry time, if asked for), the one not used for longest.
    pub fn least_recently_used(&self, samples: usize, only_expiring: bool) -> Option<Bytes> {
        let count = if only_expiring { self.expiring.len() } else { self.entries.len() };
        let pick = |_| match only_expiring {
            true => self.entries.get_key_value(&self.expiring[fastrand::usize(..count)]),
            false => self.entries.get_index(fastrand::usize(..count)),
        };
        let sampled = (0..samples.min(count)).filter_map(pick);
        sampled.min_by_key(|(_, entry)| entry.accessed).map(|(key, _)| key.clone())
    }

    /// Keys with an expiry time, by index as in [`Self::key_at`].
    pub fn expiring(&self) -> &IndexSet<Bytes> {
        &self.expiring
    }

    /// Hashes with expiring fields, by index as in [`Self::key_at`].
    pub fn expiring_fields(&self) -> &IndexSet<Bytes> {
        &self.expiring_fields
    }

    /// Gives back room that the tables of keys no longer need. Returns whether there was any.
    pub fn compact_tables(&mut self) -> bool {
        let mut found = false;
        if is_sparse(self.entries.len(), self.entries.capacity()) {
            self.entries.shrink_to_fit();
            found = true;
        }
        for keys in [&mut self.expiring, &mut self.expiring_fields] {
            if is_sparse(keys.len(), keys.capacity()) {
                keys.shrink_to_fit();
                found = true;
            }
        }
        found
    }

    /// Deletes `key`, or its fields, if their time has come.
    pub fn drop_expired(&mut self, key: &[u8]) {
        let Some(entry) = self.entries.get_mut(key) else { return };
        if entry.expiry.is_some_and(|expiry| expiry <= self.now) {
            self.delete_expired(key);
        } else if let Value::Hash(hash) = &mut entry.value
            && hash.has_expiring_fields()
        {
            let fields = hash.remove_expired(self.now);
            if !hash.has_expiring_fields() {
                self.expiring_fields.swap_remove(key);
            }
            if !fields.is_empty() {
                let request = [&b"HDEL"[..], key].into_iter().chain(fields.iter().map(Vec::as_slice));
                self.journal.record(&request.collect::<Vec<_>>());
                self.changed(key, fields.len() as u64);
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
        self.evicted += 1;
        self.lose(key);
    }

    /// Deletes a key that no command has asked to delete.
    fn lose(&mut self, key: &[u8]) {
        if let Some(value) = self.take(key) {
            self.free_lazily(value);
        }
        self.changes += 1;
        self.journal.record(&[b"DEL", key]);
    }

    fn take(&mut self, key: &[u8]) -> Option<Value> {
        self.forget_expiry(key);
        self.entries.swap_remove(key).map(|entry| entry.value)
    }

    fn forget_expiry(&mut self, key: &[u8]) {
        if let Some(entry) = self.entries.get(key) {
            if entry.expiry.is_some() {
                self.expiring.swap_remove(key);
            }
            if Hash::of_ref(&entry.value).is_some_and(Hash::has_expiring_fields) {
                self.expiring_fields.swap_remove(key);
            }
        }
    }
}

/// The time in milliseconds since 1970.
pub fn wall_clock() -> Millis {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_millis() as Millis)
}
