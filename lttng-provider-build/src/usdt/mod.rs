//! The back end for USDT: probes in assembly, the same for C and for Rust.

use crate::GeneratedFile;

/// What C files with probes include.
pub(crate) fn support_for_c() -> GeneratedFile {
    GeneratedFile { name: "lttng_usdt.h".to_owned(), text: include_str!("lttng_usdt.h").to_owned() }
}
