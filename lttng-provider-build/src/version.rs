//! The version of what is generated.

/// It changes with what generated code and `lttng-provider` ask of each other, and is also in that crate: in
/// `build.rs`, and as `ffi::GENERATED`.
pub(crate) const GENERATED: u32 = 2;
