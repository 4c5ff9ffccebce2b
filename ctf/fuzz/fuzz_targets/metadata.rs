//! Any bytes as a metadata file: `cargo +nightly fuzz run metadata`.

#![no_main]

use ctf_reader::Reader;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = Reader::from_bytes(bytes, Vec::new());
});
