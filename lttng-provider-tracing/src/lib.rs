#![doc = include_str!("../README.md")]

mod callsites;
mod captured;
mod convert;
#[doc(hidden)]
pub mod generated;
mod layer;
mod literal;
mod macros;
mod pattern;
mod plan;
mod span;
mod values;
mod warnings;

pub use layer::{Bridge, CatalogFilter, CatalogLayer, Recorder};
