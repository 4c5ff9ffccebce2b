//! Findings for people and for programs.

pub mod amount;
pub mod csv;
pub mod escape;
pub mod json;
mod notes;
pub mod progress;
mod reason;
mod screen;
mod table;
pub mod text;

pub use screen::Screen;
