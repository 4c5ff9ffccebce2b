//! The keys and fields, and what happens when one expires or has to go.

use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use indexmap::{IndexMap, IndexSet};
use lttng_provider::traced;
use valkey_trace::valkey_db;

use crate::resp::{Bytes, encode};
use crate::stall;
use crate::system::used_memory;
use crate::worker::Worker;

/// A value with more bytes than this is freed on the second thread when it is evicted or expires.
const LAZY: usize = 64 << 10;

/// Milliseconds since 1970, as expiry times are given.
pub type Millis = u64;

/// A key, and the field of its hash, which is empty for a string.
pub type Place = (Bytes, Bytes);

/// All keys. The event loop and the sampler share it under one lock.
pub struct Database {
    /// Each with its expiry time.
    entries: IndexMap<Place, (Bytes, Option<Millis>)>,
    /// Keys with an expiry time. Removing one moves the last into its place, so visiting indexes downwards misses none.
    pub expiring_keys: IndexSet<Place>,
    /// Fields that have one, in an order like that.
    pub expiring_fields: IndexSet<Place>,
    /// Requests that are to be appended to the append-only file; `None` while there is no such file.
    pub journal: Option<Bytes>,
    lazy_free: Worker<Bytes>,
    /// Keys and fields deleted because their time had come.
    pub expired: u64,
}

impl Database {
    pub fn new() -> std::io::Result<Self> {
        Ok(Self {
            entries: IndexMap::new(),
            expiring_keys: IndexSet::new(),
            expiring_fields: IndexSet::new(),
            journal: None,
            lazy_free: Worker::start("lazy-free", |_| stall::LAZY_FREE.reached())?,
            expired: 0,
        })
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn get(&mut self, place: &Place) -> Option<&Bytes> {
        self.drop_expired(place);
        self.entries.get(place).map(|(value, _)| value)
    }

    fn expiring(&mut self, place: &Place) -> &mut IndexSet<Place> {
        if place.1.is_empty() { &mut self.expiring_keys } else { &mut self.expiring_fields }
    }

    pub fn insert(&mut self, place: Place, value: Bytes, expiry: Option<Millis>) {
        self.remove(&place);
        if expiry.is_some() {
            self.expiring(&place).insert(place.clone());
        }
        self.entries.insert(place, (value, expiry));
    }

    fn remove(&mut self, place: &Place) -> Option<Bytes> {
        self.expiring(place).swap_remove(place);
        self.entries.swap_remove(place).map(|(value, _)| value)
    }

    pub fn clear(&mut self) {
        self.expiring_keys.clear();
        self.expiring_fields.clear();
        self.entries = IndexMap::new();
    }

    /// The value at an index below [`Self::len`], for the sampler and for compaction.
    pub fn value_at(&mut self, index: usize) -> Option<&mut Bytes> {
        self.entries.get_index_mut(index).map(|(_, (value, _))| value)
    }

    /// Returns unused capacity of the table of keys. Returns whether there was enough of it to matter.
    pub fn compact_table(&mut self) -> bool {
        let is_sparse = self.entries.capacity() > 64 && self.entries.len() < self.entries.capacity() / 2;
        if is_sparse {
            self.entries.shrink_to_fit();
        }
        is_sparse
    }

    /// The requests that make the data: the form of snapshots, append-only files and what is sent to other servers.
    pub fn requests(&self) -> impl Iterator<Item = Bytes> {
        self.entries.iter().map(|((key, field), (value, expiry))| {
            let time = expiry.map(|expiry| expiry.to_string()).unwrap_or_default();
            let expiry: &[&[u8]] = if time.is_empty() { &[] } else { &[b"PXAT", time.as_bytes()] };
            match field.is_empty() {
                true => encode(&[&[b"SET", &key[..], value], expiry].concat()),
                false => encode(&[&[b"HSETEX", &key[..]], expiry, &[b"FIELDS", b"1", field, value]].concat()),
            }
        })
    }

    /// Deletes a key or a field if its time has come.
    pub fn drop_expired(&mut self, place: &Place) {
        let expiry = self.entries.get(place).and_then(|(_, expiry)| *expiry);
        if expiry.is_some_and(|expiry| expiry <= now()) {
            self.delete_expired(place);
        }
    }

    #[traced(valkey_db::expire_del)]
    fn delete_expired(&mut self, place: &Place) {
        stall::EXPIRE.reached();
        self.expired += 1;
        self.lose(place);
    }

    #[traced(valkey_db::eviction_del)]
    fn evict(&mut self, place: &Place) {
        stall::EVICT.reached();
        self.lose(place);
    }

    /// Deletes what no command has asked to delete; a large value is freed on the second thread.
    fn lose(&mut self, place: &Place) {
        if let Some(value) = self.remove(place).filter(|value| value.len() > LAZY) {
            self.lazy_free.submit(value);
        }
    }

    /// Evicts keys until no more than `limit` bytes are used; returns whether that is so.
    #[cold]
    #[traced(valkey_db::eviction_cycle)]
    pub fn make_room(&mut self, limit: u64) -> bool {
        while used_memory() > limit {
            let index = if self.len() > 0 { fastrand::usize(..self.len()) } else { 0 };
            let Some(place) = self.entries.get_index(index).map(|(place, _)| place.clone()) else {
                return self.wait_for_lazy_free(limit);
            };
            self.evict(&place);
        }
        true
    }

    /// Nothing is left to evict, but the second thread may be about to free enough.
    #[traced(valkey_db::eviction_lazyfree)]
    fn wait_for_lazy_free(&self, limit: u64) -> bool {
        let until = Instant::now() + Duration::from_secs(1);
        while self.lazy_free.pending() > 0 && Instant::now() < until {
            thread::sleep(Duration::from_micros(100));
        }
        used_memory() <= limit
    }
}

/// The time in milliseconds since 1970.
pub fn now() -> Millis {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_millis() as Millis)
}
