//! Receives traces from `lttng-relayd` while they are recorded.
//!
//! `lttng-relayd` collects the traces of many hosts and serves them to viewers, packet by packet. This crate is such a
//! viewer: a thread for each session fetches metadata, streams and packets as they come, and `ctf-reader` merges and
//! decodes them as it does those of files.
//!
//! ```text
//! relay ──TCP──> connection, protocol ──> receiver (a thread a session) ──> inbox ──> source ──> ctf_reader::InOrder
//! ```
//!
//! What comes from the network is not trusted: every length has a limit, every reply a deadline. After a relay was
//! lost, the receiver connects again and continues where it stopped. See [`Live`] for an example.

#![forbid(unsafe_code)]

mod attachment;
mod connection;
mod error;
mod inbox;
mod live;
mod options;
mod protocol;
mod received;
mod receiver;
mod source;
mod status;
mod url;

pub use error::Error;
pub use live::{Live, sessions};
pub use options::{Options, Order, Seek};
pub use protocol::Session;
pub use status::{State, Status};
pub use url::{PORT, Url};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
