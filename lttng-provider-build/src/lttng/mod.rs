//! The back end for LTTng-UST: providers in C, written with the official macros of 2.13.

mod declaration;
mod event;
mod header;
mod source;

pub(crate) use header::header;
pub(crate) use source::source_for_rust;

use crate::GeneratedFile;

/// The header that all providers include.
pub(crate) fn support() -> GeneratedFile {
    GeneratedFile { name: "lttng_provider.h".to_owned(), text: include_str!("lttng_provider.h").to_owned() }
}
