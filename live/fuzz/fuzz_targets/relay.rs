//! Any bytes as the replies of a relay, received over TCP and merged: `cargo +nightly fuzz run relay`.
//!
//! The input has a record for each request:
//!
//! ```text
//! 0                        the reply of an honest relay
//! 1  u16 length, bytes     these bytes
//! 2  u16 offset, u8 byte   an honest reply with a byte changed
//! 3  u16 length            an honest reply, cut off
//! 4  u16 offset, u32 word  an honest reply with a word changed
//! ```
//!
//! After the last record the relay closes the connection. No thread may panic, and receiving must end.

#![no_main]

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use ctf_reader::{Step, Window, all_fields};
use libfuzzer_sys::fuzz_target;
use lttng_live::{Live, Options, State};

#[path = "../../tests/support/honest_relay.rs"]
#[allow(dead_code, reason = "the tests use more of it")]
mod honest_relay;

fuzz_target!(|records: &[u8]| {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("net://{}/demo", listener.local_addr().expect("it is bound"));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            if let Ok((connection, _)) = listener.accept() {
                serve(connection, records);
            }
        });
        view(&url);
    });
});

/// Receives and merges until the relay is lost or has nothing more.
fn view(url: &str) {
    // Replies that are too short are waited for.
    let options = Options::default().with_timeout(Duration::from_millis(50));
    let mut live = Live::start(vec![url.parse().expect("an address")], &options);
    let mut merge = live.merge(Window::default(), all_fields);
    loop {
        match merge.next_event() {
            Step::Event(event) => event.fields().for_each(drop),
            Step::Wait if matches!(live.statuses()[0].state, State::Lost(_)) => break,
            Step::Wait => live.feed(&mut merge, Duration::from_secs(10), |_, _| {}),
            Step::End => break,
        }
    }
    merge.report();
}

/// Answers each request by the next record.
fn serve(mut connection: TcpStream, mut records: &[u8]) {
    let counter = AtomicU64::new(0);
    while let Some((command, _)) = honest_relay::request(&mut connection) {
        let honest = honest_relay::honest(command, &counter);
        let Some(reply) = reply(&mut records, honest) else { return };
        if connection.write_all(&reply).is_err() {
            return;
        }
    }
}

/// The reply that the next record asks for; `None` after the last.
fn reply(records: &mut &[u8], mut honest: Vec<u8>) -> Option<Vec<u8>> {
    match take::<1>(records)? {
        [1] => {
            let length = usize::from(u16::from_le_bytes(take(records)?)).min(records.len());
            let (bytes, rest) = records.split_at(length);
            *records = rest;
            return Some(bytes.to_vec());
        }
        [2] => {
            let ([low, high], [byte]) = (take(records)?, take(records)?);
            if let Some(changed) = honest.get_mut(usize::from(u16::from_le_bytes([low, high]))) {
                *changed = byte;
            }
        }
        [3] => honest.truncate(u16::from_le_bytes(take(records)?).into()),
        [4] => {
            let (offset, word): ([u8; 2], [u8; 4]) = (take(records)?, take(records)?);
            let offset = 4 * usize::from(u16::from_le_bytes(offset));
            if let Some(changed) = honest.get_mut(offset..).and_then(|rest| rest.first_chunk_mut()) {
                *changed = word;
            }
        }
        _ => {}
    }
    Some(honest)
}

fn take<const N: usize>(records: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, rest) = records.split_first_chunk()?;
    *records = rest;
    Some(*taken)
}
