//! Single events, written one after the other as they are read: as Babeltrace's text, as JSON lines or as CSV.

mod clock;
mod csv;
mod form;
mod json;
mod printer;
mod stacks;
mod text;
mod value;

pub use csv::CsvForm;
pub use form::{EventLine, Form, ShownField};
pub use json::JsonForm;
pub use printer::{Printer, Show, Stop};
pub use stacks::Stacks;
pub use text::TextForm;
