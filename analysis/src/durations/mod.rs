//! How durations are distributed: histograms, and heat maps over time.

pub(super) mod heat;
pub(super) mod hist;
pub(super) mod histogram;
pub(super) mod octave;

pub use heat::{Heat, HeatGroup, TimeColumns};
pub use hist::{Hist, HistBucket, HistGroup, Octave, Outline};
pub use histogram::Bucket;
