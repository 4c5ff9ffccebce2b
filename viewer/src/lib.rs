//! Finds slow commands and duration outliers in CTF traces.
//!
//! Dependencies go one way: `view` → `analysis` → `source`. The program `ltt-top` is in `src/bin`, behind the feature
//! `program`.
//!
//! Times are nanoseconds since 1970 (`i64`, named `*_ns` in findings), lengths are nanoseconds
//! ([`Ns`](analysis::finding::Ns) in findings). Only recorded durations are in another unit until they are summed up:
//! ticks of their [`EventKind`](analysis::EventKind).

pub mod analysis;
pub mod catalogs;
pub mod datum;
pub mod filter;
pub mod meaning;
pub mod pair;
pub mod samples;
pub mod source;
pub mod symbols;
pub mod text;
pub mod unit;
pub mod view;

/// The example in the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
