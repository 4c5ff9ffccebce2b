//! A branch hint for the compiler.

/// `true`, and marks the path cold.
#[cold]
#[inline(always)]
pub fn unlikely() -> bool {
    true
}
