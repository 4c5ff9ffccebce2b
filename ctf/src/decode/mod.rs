//! From a packet's bytes to its events.
//!
//! A [plan](event_plan) is compiled once for each event class from the metadata and from which fields are wanted. Decoding then
//! runs plans over [parts](part) of packets. Nearly all events are whole bytes in little-endian order after one of
//! LTTng's headers and take the [fast] path; anything else takes the [general] one:
//!
//! ```text
//! part ──┬── fast: find where texts end, read fields in place when asked ──┬──> events
//!        └── general: event_header, roles, bits → values ──────────────────┘
//! ```

pub mod bits;
pub mod clock;
pub mod event_header;
pub mod event_plan;
pub mod fast;
pub mod frozen;
pub mod general;
pub mod part;
pub mod roles;
pub mod stream_plan;
pub mod tally;
