//! The version of generated code.

/// It changes with the interface between generated code and `lttng-provider`, and is also in that crate: in
/// `build.rs`, and as `ffi::GENERATED`.
pub(crate) const GENERATED: u32 = 3;
