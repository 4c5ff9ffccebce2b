//! Views for people and for programs: each renders a [`Finding`](crate::analysis::Finding) and computes nothing.

pub mod csv;
pub mod events;
pub mod json;
pub mod live;
pub mod notes;
pub mod progress;
mod screen;
mod sheet;
pub mod table;

pub use screen::Screen;
