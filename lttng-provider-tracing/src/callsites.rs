//! Plans by call site, found without a lock: every span of a program may ask, and most are not recorded.
//!
//! The table only grows, by one entry for each call site that the catalog names, so it is bounded by the program's
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

type Slot = OnceLock<(usize, Box<Plan>)>;

/// The plans of all call sites that the catalog names.
#[derive(Debug, Default)]
pub(crate) struct Callsites {
    chunks: [OnceLock<Box<[Slot]>>; CHUNKS],
}

impl Callsites {
    /// The plan of a call site; none if the catalog does not name it.
    #[inline]
    pub(crate) fn get(&self, metadata: &Metadata<'_>) -> Option<&Plan> {
        let key = key(metadata);
        for chunk in &self.chunks {
            for slot in slots(chunk.get()?, key) {
                let (found, plan) = slot.get()?;
                if *found == key {
                    return Some(plan);
                }
            }
        }
        None
    }

    /// Adds the plan of a call site, unless another thread was faster; returns the one that is kept.
    pub(crate) fn insert(&self, metadata: &'static Metadata<'static>, plan: Plan) -> Option<&Plan> {
        let key = key(metadata);
        let mut entry = (key, Box::new(plan));
        for (index, chunk) in self.chunks.iter().enumerate() {
            let chunk = chunk.get_or_init(|| (0..FIRST << index).map(|_| Slot::new()).collect());
            for slot in slots(chunk, key) {
                match slot.set(entry) {
                    Ok(()) => return slot.get().map(|(_, plan)| &**plan),
                    Err(ours) => entry = ours,
                }
                if let Some((_, plan)) = slot.get().filter(|(found, _)| *found == key) {
                    return Some(plan);
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
