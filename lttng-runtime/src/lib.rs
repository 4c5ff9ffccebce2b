#![doc = include_str!("../README.md")]

mod declaration;
mod ffi;
mod provider;
mod usdt;

pub use declaration::{Error, FIELDS_MAX};
pub use ffi::{EVENTS_MAX, TEXT_MAX, Value, follow_forks};
pub use provider::{Event, Provider};
