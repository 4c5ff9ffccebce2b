//! The C side: providers written with the official macros of LTTng-UST 2.13.

mod arguments;
mod comment;
mod fields;
mod header;
mod source;

pub(crate) use header::header;
pub(crate) use source::source;

use lttng_catalog::{Integer, Width};

use crate::{SourceFile, layout};

/// What all providers include.
pub(crate) fn support() -> SourceFile {
    SourceFile { name: "lttng_provider.h".to_owned(), text: include_str!("lttng_provider.h").to_owned() }
}

/// `uint32_t`
fn integer_type(integer: Integer) -> String {
    let sign = if integer.signed { "" } else { "u" };
    format!("{sign}int{}_t", integer.width.bits())
}

/// `uint32_t`
fn unsigned_type(width: Width) -> String {
    integer_type(Integer::new(width, false))
}

/// `start(a, b)end`, in C's style.
fn list(indent: &str, start: &str, items: &[String], end: &str) -> String {
    layout::list(indent, "\t", start, items, end, "")
}
