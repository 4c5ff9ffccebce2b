//! The replies of a relay that follows the protocol, written byte by byte.

use std::io::Read;
use std::sync::atomic::{AtomicU64, Ordering};

/// The metadata of its trace.
pub const METADATA: &str = r#"/* CTF 1.8 */
typealias integer { size = 16; align = 8; } := u16;
typealias integer { size = 32; align = 8; } := u32;
typealias integer { size = 64; align = 8; } := u64;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; }; };
clock { name = c; freq = 1000000000; };
typealias integer { size = 64; align = 8; map = clock.c.value; } := time;
stream {
    packet.context := struct { time timestamp_begin; time timestamp_end; u64 content_size; u64 packet_size; };
    event.header := struct { u16 id; time timestamp; };
};
event { name = "e"; id = 0; fields := struct { u64 number; }; };
"#;

/// A packet of one event.
fn packet(number: u64) -> Vec<u8> {
    let mut bytes = 0xC1FC_1FC1_u32.to_le_bytes().to_vec();
    let size = 8 * 54;
    [number, number + 1, size, size].iter().for_each(|field| bytes.extend(field.to_le_bytes()));
    bytes.extend(0_u16.to_le_bytes());
    [number, number].iter().for_each(|field| bytes.extend(field.to_le_bytes()));
    bytes
}

/// The next request: its command, and its body.
pub fn request(connection: &mut impl Read) -> Option<(u32, Vec<u8>)> {
    let mut header = [0; 16];
    connection.read_exact(&mut header).ok()?;
    let size = u64::from_be_bytes(header[..8].try_into().expect("8 bytes"));
    let command = u32::from_be_bytes(header[8..12].try_into().expect("4 bytes"));
    let mut body = vec![0; size as usize];
    connection.read_exact(&mut body).ok()?;
    Some((command, body))
}

/// Numbers as the protocol has them.
pub fn words(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_be_bytes()).collect()
}

/// A name in an array of this size.
fn text(name: &str, size: usize) -> Vec<u8> {
    let mut bytes = name.as_bytes().to_vec();
    bytes.resize(size, 0);
    bytes
}

/// A stream with this number.
pub fn stream(id: u64, is_metadata: bool) -> Vec<u8> {
    let mut bytes = [id.to_be_bytes(), 1_u64.to_be_bytes()].concat();
    bytes.extend(u32::from(is_metadata).to_be_bytes());
    bytes.extend(text("ust/uid/0/64-bit", 4096));
    bytes.extend(text(&format!("channel_{id}"), 255));
    bytes
}

/// The reply of a relay with one session of one stream, whose packets never end.
pub fn honest(command: u32, counter: &AtomicU64) -> Vec<u8> {
    match command {
        1 => [7_u64.to_be_bytes().to_vec(), words(&[2, 4, 1])].concat(),
        2 => {
            let session = [1_u64.to_be_bytes().to_vec(), words(&[1000, 0, 2])].concat();
            [words(&[1]), session, text("host", 64), text("demo", 255)].concat()
        }
        3 => [words(&[1, 2]), stream(1, true), stream(2, false)].concat(),
        4 => {
            let number = counter.fetch_add(1, Ordering::Relaxed);
            let index = [number * 54, 54 * 8, 54 * 8, number, number + 1, 0, 0];
            let index: Vec<u8> = index.iter().flat_map(|field| field.to_be_bytes()).collect();
            [index, words(&[1, 0])].concat()
        }
        5 => {
            let packet = packet(counter.load(Ordering::Relaxed));
            [words(&[1, packet.len() as u32, 0]), packet].concat()
        }
        6 if counter.swap(1, Ordering::Relaxed) == 0 => {
            [(METADATA.len() as u64).to_be_bytes().to_vec(), words(&[1]), METADATA.into()].concat()
        }
        6 => [0_u64.to_be_bytes().to_vec(), words(&[2])].concat(),
        7 => words(&[2, 0]),
        _ => words(&[1]),
    }
}
