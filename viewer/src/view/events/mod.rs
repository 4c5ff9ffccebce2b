//! Single events, written one after the other as they are read: as Babeltrace's text, as JSON lines or as CSV.

mod clock;
mod csv;
mod form;
mod json;
mod literal;
mod printer;
mod stacks;
mod text;
mod value;

pub use form::Form;
pub use printer::{Printer, Show, Stop};
pub use stacks::Stacks;

pub(super) use csv::CsvForm;
pub(super) use json::JsonForm;
pub(super) use text::TextForm;
