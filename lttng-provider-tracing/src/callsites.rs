//! Plans by call site, found without a lock: every span of a program may ask, and most are not recorded.
//!
//! The table only grows, by one entry for each call site, so it is bounded by the program's
//! source. Each chunk is twice as large as the one before it. A call site has its place within a few slots of each chunk;
//! the first free one of them is taken, so the search ends at a free slot.

use std::ptr;
use std::sync::OnceLock;

use tracing_core::Metadata;

use crate::plan::Plan;

/// The slots of the first chunk.
const FIRST: usize = 64;
/// The slots that a call site may take in a chunk.
const PROBES: usize = 8;
/// Enough for more call sites than a program can have.
const CHUNKS: usize = 24;

/// A call site, and its plan if the catalog names it.
type Slot = OnceLock<(usize, Option<Box<Plan>>)>;

/// The plans of all call sites that are registered.
#[derive(Debug, Default)]
pub(crate) struct Callsites {
    chunks: [OnceLock<Box<[Slot]>>; CHUNKS],
}

impl Callsites {
    /// The plan of a call site, which is none if the catalog does not name it. Nothing if it is not registered yet.
    #[inline]
    pub(crate) fn get(&self, metadata: &Metadata<'_>) -> Option<Option<&Plan>> {
        let key = key(metadata);
        for chunk in &self.chunks {
            for slot in slots(chunk.get()?, key) {
                let (found, plan) = slot.get()?;
                if *found == key {
                    return Some(plan.as_deref());
                }
            }
        }
        None
    }

    /// Adds the plan of a call site and returns it; nothing if another thread was faster.
    pub(crate) fn insert(&self, metadata: &'static Metadata<'static>, plan: Option<Plan>) -> Option<&Plan> {
        let key = key(metadata);
        let mut entry = (key, plan.map(Box::new));
        for (index, chunk) in self.chunks.iter().enumerate() {
            let chunk = chunk.get_or_init(|| (0..FIRST << index).map(|_| Slot::new()).collect());
            for slot in slots(chunk, key) {
                match slot.set(entry) {
                    Ok(()) => return slot.get()?.1.as_deref(),
                    Err(ours) => entry = ours,
                }
                if slot.get().is_some_and(|(found, _)| *found == key) {
                    return None;
                }
            }
        }
        None
    }
}

/// Metadata is a static of the call site, so its address says which one it is.
fn key(metadata: &Metadata<'_>) -> usize {
    ptr::from_ref(metadata) as usize
}

/// The slots of a chunk that a key may be in. Their number is a power of two.
fn slots(chunk: &[Slot], key: usize) -> impl Iterator<Item = &Slot> {
    // Fibonacci hashing: the upper bits of the product depend on all bits of the address.
    let hash = ((key as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as usize;
    (hash..hash + PROBES).map(|index| &chunk[index & (chunk.len() - 1)])
}
