//! What the formats of timelines have in common.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, Write};

use serde_json::{Map, Value, json};

use super::nest::Placed;
use ltt_analysis::datum::Datum;

/// The track of incidents and of blocked time, beside those of threads and processes.
pub const INCIDENTS: u32 = u32::MAX;

/// Writes records, which nest and come in the order of their begins.
pub trait Writer {
    fn event(&mut self, placed: Placed) -> io::Result<()>;

    /// Writes the rest, and returns the number of bytes of the file.
    fn finish(self: Box<Self>, clipped: u64) -> io::Result<u64>;
}

/// A value as a text.
pub fn text(value: &Datum) -> String {
    match json!(value) {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

/// The parts of a record's body: the name, the category and the arguments.
pub fn parsed(body: &[u8]) -> (String, String, Map<String, Value>) {
    let mut body: Map<String, Value> = serde_json::from_slice(body).unwrap_or_default();
    let mut taken = |key: &str| match body.remove(key) {
        Some(Value::String(text)) => text,
        _ => String::new(),
    };
    let (name, category) = (taken("name"), taken("cat"));
    (name, category, object(body.remove("args").unwrap_or_default()))
}

pub fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

/// Counts what is written.
pub struct Counted<'o> {
    pub out: &'o mut dyn Write,
    pub bytes: u64,
}

impl Counted<'_> {
    pub fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.bytes += bytes.len() as u64;
        self.out.write_all(bytes)
    }
}

/// The ends of slices that have begun, for formats that write both: the next one first, of the same time that of the last
/// to begin.
pub struct Ends<T> {
    ends: BinaryHeap<Reverse<(i64, Reverse<u64>, T)>>,
    begun: u64,
}

impl<T: Ord> Ends<T> {
    pub fn new() -> Self {
        Ends { ends: BinaryHeap::new(), begun: 0 }
    }

    pub fn push(&mut self, end: i64, what: T) {
        self.begun += 1;
        self.ends.push(Reverse((end, Reverse(self.begun), what)));
    }

    /// The next one that is not after a time.
    pub fn pop(&mut self, until: i64) -> Option<(i64, T)> {
        self.ends.peek().filter(|Reverse((end, ..))| *end <= until)?;
        self.ends.pop().map(|Reverse((end, _, what))| (end, what))
    }
}
