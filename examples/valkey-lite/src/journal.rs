//! Changes on their way to the append-only file.

use crate::request::{Bytes, encode};

/// Requests that, replayed in order, lead to the same data.
#[derive(Default)]
pub struct Journal {
    enabled: bool,
    bytes: Bytes,
}

impl Journal {
    /// Starts or stops recording.
    pub fn enable(&mut self, enabled: bool) {
        self.enabled = enabled;
        if !enabled {
            self.bytes = Bytes::new();
        }
    }

    /// The request in the journal's form, if it records.
    pub fn prepare(&self, request: &[impl AsRef<[u8]>]) -> Option<Bytes> {
        self.enabled.then(|| {
            let mut encoded = Bytes::new();
            encode(&mut encoded, request);
            encoded
        })
    }

    /// Records a prepared request, or several.
    pub fn append(&mut self, prepared: &[u8]) {
        if self.enabled {
            self.bytes.extend_from_slice(prepared);
        }
    }

    /// Records a request.
    pub fn record(&mut self, request: &[impl AsRef<[u8]>]) {
        if self.enabled {
            encode(&mut self.bytes, request);
        }
    }

    /// What has been recorded since the last time, moved to the end of `pending`.
    pub fn drain_into(&mut self, pending: &mut Bytes) {
        pending.append(&mut self.bytes);
    }

    /// How much is waiting to be taken.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Puts a request before what was recorded from `start` on, and another behind it.
    pub fn wrap(&mut self, start: usize, before: &[&[u8]], after: &[&[u8]]) {
        if self.enabled && self.bytes.len() > start {
            let mut wrapped = Bytes::new();
            encode(&mut wrapped, before);
            wrapped.extend_from_slice(&self.bytes[start..]);
            encode(&mut wrapped, after);
            self.bytes.truncate(start);
            self.bytes.append(&mut wrapped);
        }
    }
}
