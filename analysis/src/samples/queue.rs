//! Samples on their way from the thread that takes them to the one that analyses live events.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use super::Sample;

/// The most samples that wait; older ones are dropped.
const MOST: usize = 1 << 16;

/// A queue of samples with their times, in nanoseconds since 1970. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct SampleQueue(Arc<Mutex<VecDeque<(i64, Sample)>>>);

impl SampleQueue {
    /// Adds a sample.
    pub fn push(&self, time_ns: i64, sample: Sample) {
        let mut queue = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if queue.len() == MOST {
            queue.pop_front();
        }
        queue.push_back((time_ns, sample));
    }

    /// Takes all samples that have arrived.
    pub fn take(&self) -> VecDeque<(i64, Sample)> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
