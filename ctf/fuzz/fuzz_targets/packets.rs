//! Any bytes as a trace: metadata up to the first NUL, and a stream file after it. All fields of all events are
//! decoded, one by one and all at once, and then none, which must find the same events:
//! `cargo +nightly fuzz run packets`.

#![no_main]

use libfuzzer_sys::fuzz_target;

mod support;

fuzz_target!(|bytes: &[u8]| {
    let Some(reader) = support::open([support::trace(bytes)]) else { return };
    let (_, all) = support::read(&reader, true);
    let (_, none) = support::read(&reader, false);
    assert_eq!(all, none);
});
