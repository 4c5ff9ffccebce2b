#![doc = include_str!("../README.md")]

mod callsites;
mod captured;
mod convert;
#[doc(hidden)]
pub mod generated;
mod interest;
mod kind;
mod layer;
mod literal;
mod macros;
mod pattern;
mod plan;
mod sources;
mod span;
mod value;
mod values;
mod warnings;

pub use layer::{Bridge, CatalogFilter, CatalogLayer, Recorder};
