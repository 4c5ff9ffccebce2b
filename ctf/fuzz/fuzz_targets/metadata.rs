//! Any bytes as a metadata file: `cargo +nightly fuzz run metadata`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ltt_top::source::native::Native;

fuzz_target!(|bytes: &[u8]| {
    let _ = Native::in_memory(bytes, Vec::new());
});
