//! From packets to consumers: [all at once](unordered), on all cores, or one by one [in the order of time](ordered).

pub mod active_packet;
mod arrivals;
pub mod file_source;
mod lane;
pub mod lookahead;
mod merged;
pub mod open_packet;
pub mod ordered;
pub mod ordered_event;
pub mod packet_source;
pub mod step;
pub mod unordered;
