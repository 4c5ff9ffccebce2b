//! Finds slow commands and duration outliers in CTF traces.

pub mod source;
