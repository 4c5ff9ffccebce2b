//! From packets to consumers: [all at once](unordered), on all cores, or one by one [in the order of time](ordered).

pub mod open_packet;
pub mod unordered;
