//! Finds slow commands and duration outliers in CTF traces.
//!
//! The directions are view → analysis → source, never back.

pub mod analysis;
pub mod datum;
pub mod filter;
pub mod meaning;
pub mod pair;
pub mod source;
pub mod symbols;
pub mod text;
pub mod unit;
pub mod view;
