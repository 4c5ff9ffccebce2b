//! The C interface of Babeltrace 2: all of this crate's `unsafe` code.
//!
//! Handles borrow from what keeps them alive: a field from its message, a class from its trace. Every handle exists only
//! after the library was loaded.

mod class;
mod component;
mod ctf_source;
mod error;
mod field;
mod graph;
mod guard;
mod make;
mod message;
mod trace;
mod value;

use std::ffi::{CStr, CString, c_char};
use std::sync::OnceLock;

pub use graph::{Graph, Step};
pub use message::{Content, Message, Stream};
pub use trace::Trace;

/// What bindgen makes of the installed headers.
#[allow(
    missing_docs,
    nonstandard_style,
    dead_code,
    unsafe_op_in_unsafe_fn,
    clippy::all,
    clippy::undocumented_unsafe_blocks
)]
mod bindings {
    include!(concat!(env!("OUT_DIR"), "/babeltrace2.rs"));
}

use bindings::Babeltrace2;

/// The library's file, by the version of its binary interface: that of all 2.x.
const FILE: &str = "libbabeltrace2.so.0";

static LIBRARY: OnceLock<Result<Babeltrace2, String>> = OnceLock::new();

/// Loads the library, once.
pub fn load() -> Result<(), String> {
    LIBRARY.get_or_init(open).as_ref().map(|_| ()).map_err(Clone::clone)
}

fn open() -> Result<Babeltrace2, String> {
    // SAFETY: the library's constructors only prepare its own state, and its types are those of its headers, since the
    // number in its name changes with them.
    let library = unsafe { Babeltrace2::new(FILE) };
    let library = library.map_err(|error| {
        let reason = error.to_string();
        match reason.contains("undefined symbol") {
            true => format!("Babeltrace 2 is too old ({reason}): install babeltrace2 2.0.4 or newer"),
            false => {
                format!("Babeltrace 2 cannot be loaded ({reason}): install the package libbabeltrace2-0")
            }
        }
    })?;
    // SAFETY: it takes no arguments.
    match unsafe { library.bt_version_get_major() } {
        2 => Ok(library),
        major => Err(format!("Babeltrace {major} is not supported: install Babeltrace 2")),
    }
}

/// The library.
///
/// # Panics
///
/// If it was not loaded, which whoever makes the first handle has seen to.
fn bt() -> &'static Babeltrace2 {
    match LIBRARY.get_or_init(open) {
        Ok(library) => library,
        Err(reason) => panic!("{reason}"),
    }
}

/// Copies a text; null is empty.
///
/// # Safety
///
/// The pointer is null, or leads to a NUL-terminated text.
unsafe fn text(pointer: *const c_char) -> String {
    match pointer.is_null() {
        true => String::new(),
        // SAFETY: the caller vouches for it.
        false => unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned(),
    }
}

/// A text for C, up to its first NUL.
fn c_text(text: &str) -> CString {
    CString::new(text.split('\0').next().unwrap_or_default()).unwrap_or_default()
}
