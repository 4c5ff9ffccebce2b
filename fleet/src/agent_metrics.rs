//! The state of the agent, as a file for the textfile collector of Prometheus' node_exporter.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::store::write_whole;

/// What the agent has done since it was started, and what is left to do.
#[derive(Default)]
pub struct Metrics {
    pub is_recording: bool,
    pub exported_events: u64,
    pub exported_chunks: u64,
    pub dropped_chunks: u64,
    pub failures: u64,
    pub waiting_chunks: u64,
    pub waiting_bytes: u64,
    pub last_export: Option<SystemTime>,
}

impl Metrics {
    /// Writes the file, by a rename: the collector may read at any time.
    pub fn write(&self, path: &Path) -> Result<(), String> {
        let last = self.last_export.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
        let metrics = [
            ("recording", "gauge", "Whether the session records.", u64::from(self.is_recording)),
            (
                "exported_events_total",
                "counter",
                "Events in chunks that were exported.",
                self.exported_events,
            ),
            (
                "exported_chunks_total",
                "counter",
                "Chunks that were exported and removed.",
                self.exported_chunks,
            ),
            (
                "dropped_chunks_total",
                "counter",
                "Chunks removed unexported, for want of room.",
                self.dropped_chunks,
            ),
            ("failures_total", "counter", "Attempts to export a chunk that failed.", self.failures),
            ("waiting_chunks", "gauge", "Finished chunks that are not exported yet.", self.waiting_chunks),
            ("waiting_bytes", "gauge", "Size of all traces on the disk.", self.waiting_bytes),
            ("last_export_timestamp_seconds", "gauge", "When a chunk was exported last.", last.as_secs()),
        ];
        let lines = metrics.map(|(name, kind, help, value)| {
            format!(
                "# HELP ltt_agent_{name} {help}\n# TYPE ltt_agent_{name} {kind}\nltt_agent_{name} {value}\n"
            )
        });
        write_whole(path, lines.concat().as_bytes())
    }
}
