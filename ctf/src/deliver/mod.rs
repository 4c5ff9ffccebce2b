//! From packets to consumers: [all at once](unordered), on all cores, or one by one [in the order of time](ordered).

mod active_packet;
pub mod ahead;
mod arrivals;
pub mod digest;
pub mod file_source;
mod in_turns;
mod lane;
mod located_events;
mod merged;
pub mod open_packet;
pub mod ordered;
pub mod ordered_event;
mod packet_reader;
pub mod packet_source;
pub mod step;
pub mod unordered;
