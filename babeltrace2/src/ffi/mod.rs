//! Babeltrace 2's C interface, wrapped so that its users need no `unsafe`.
//!
//! What the wrappers see to, because the library does not:
//!
//! - Preconditions: a broken one aborts the process or reads wild memory. Each wrapper checks what its call
//!   needs (a field's type, an index, a stream's clock) and returns `None` instead.
//! - Lifetimes: all that is borrowed from a message, down to the bytes of a string, lives as long as it.
//! - Errors: after each failure the thread's error is taken, so that it cannot surface in a later call.

mod class;
mod error;
mod field;
mod graph;
mod message;

pub use class::{BtEventClass, BtFieldClass, BtFieldType, BtStructureClass};
pub use field::{BtField, FieldView};
pub use graph::Graph;
pub use message::{BtConstant, BtEvent, Loss, Message, MessageView};

/// The functions and types of `babeltrace2/babeltrace.h`, as bindgen makes them.
#[allow(
    clippy::all,
    clippy::undocumented_unsafe_blocks,
    dead_code,
    missing_docs,
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    unsafe_op_in_unsafe_fn
)]
mod bindings {
    include!(concat!(env!("OUT_DIR"), "/babeltrace2.rs"));
}

use std::ffi::{CStr, c_char};

/// Copies a C string; a missing one is empty.
///
/// # Safety
///
/// The pointer is null or leads to a NUL-terminated string that does not change during the call.
unsafe fn text(pointer: *const c_char) -> String {
    if pointer.is_null() {
        return String::new();
    }
    // SAFETY: it is not null, and the caller vouches for the rest.
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}
