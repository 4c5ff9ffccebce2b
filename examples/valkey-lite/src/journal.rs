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

    /// Records a prepared request.
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

    /// Moves what has been recorded since the last time to the end of `pending`.
    pub fn drain_into(&mut self, pending: &mut Bytes) {
        pending.append(&mut self.bytes);
    }
}
