//! A relay in the test that serves a recorded trace, so that a scene is the same every time.
//!
//! It can serve the trace again and again, each time 2^32 ns later: LTTng's events have the lower 32 bits of their
//! times, so that only the times of packets change.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;

use lttng_testing::{unpack, workspace};

/// A trace: its metadata, and the packets of each stream.
pub struct Scene {
    metadata: Vec<u8>,
    streams: Vec<Vec<Vec<u8>>>,
    /// How often it is served.
    rounds: u64,
    /// Whether the session is destroyed after that.
    ends: bool,
}

/// The recorded trace of Valkey.
pub fn archive() -> PathBuf {
    workspace().join("tests/data/valkey-mixed.tar.xz")
}

/// Serves a recorded trace of Valkey to viewers, all of it at once, as a session that goes on.
pub fn serve() -> String {
    Scene::recorded(false).serve_all()
}

impl Scene {
    /// A recorded trace of Valkey, served once.
    pub fn recorded(ends: bool) -> Scene {
        let folder = unpack(&archive());
        Scene::read(&folder.path().join("valkey-mixed/ust/uid/0/64-bit"), 1, ends)
    }

    /// Serves it to viewers, and returns where.
    pub fn serve_all(self) -> String {
        let scene = Arc::new(self);
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("net://{}/host/vm/demo", listener.local_addr().expect("it is bound"));
        thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let scene = Arc::clone(&scene);
                thread::spawn(move || scene.serve(connection));
            }
        });
        url
    }

    /// Reads the streams `ch_0` and `ch_1` of a trace.
    pub fn read(folder: &Path, rounds: u64, ends: bool) -> Scene {
        let metadata = packetised(std::fs::read(folder.join("metadata")).expect("it was extracted"));
        let stream = |name: &str| {
            let bytes = std::fs::read(folder.join(name)).expect("it was extracted");
            let mut packets = Vec::new();
            let mut rest = &bytes[..];
            while !rest.is_empty() {
                let bits = u64::from_le_bytes(rest[56..64].try_into().expect("8 bytes"));
                let (packet, others) = rest.split_at(bits as usize / 8);
                packets.push(packet.to_vec());
                rest = others;
            }
            packets
        };
        Scene { metadata, streams: vec![stream("ch_0"), stream("ch_1")], rounds, ends }
    }

    fn serve(&self, mut connection: TcpStream) {
        let state = Mutex::new((false, vec![0; self.streams.len()]));
        let mut header = [0; 16];
        while connection.read_exact(&mut header).is_ok() {
            let command = u32::from_be_bytes(header[8..12].try_into().expect("4 bytes"));
            let mut body = vec![0; header[7].into()];
            if connection.read_exact(&mut body).is_err() {
                return;
            }
            let reply = self.reply(command, &body, &mut state.lock().expect("no thread panics"));
            if connection.write_all(&reply).is_err() {
                return;
            }
        }
    }

    /// A packet of a stream, in the round that its number says.
    fn packet(&self, stream: usize, number: usize) -> Option<Vec<u8>> {
        let packets = &self.streams[stream];
        let round = (number / packets.len()) as u64;
        if round >= self.rounds {
            return None;
        }
        let mut packet = packets[number % packets.len()].clone();
        for (at, more) in [(32, round << 32), (40, round << 32), (64, round * packets.len() as u64)] {
            let field = u64::from_le_bytes(packet[at..at + 8].try_into().expect("8 bytes")) + more;
            packet[at..at + 8].copy_from_slice(&field.to_le_bytes());
        }
        Some(packet)
    }

    fn reply(&self, command: u32, body: &[u8], (has_metadata, next): &mut (bool, Vec<usize>)) -> Vec<u8> {
        let number = || u64::from_be_bytes(body[..8].try_into().expect("8 bytes"));
        let stream = || number() as usize - 10;
        match command {
            1 => [7_u64.to_be_bytes().to_vec(), words(&[2, 4, 1])].concat(),
            2 => {
                let session = [1_u64.to_be_bytes().to_vec(), words(&[1000, 0, 3])].concat();
                [words(&[1]), session, text("vm", 64), text("demo", 255)].concat()
            }
            3 => {
                let streams = (0..self.streams.len() as u64).map(|place| description(10 + place, false));
                let streams: Vec<Vec<u8>> = [description(1, true)].into_iter().chain(streams).collect();
                [words(&[1, streams.len() as u32]), streams.concat()].concat()
            }
            4 => {
                let (stream, at) = (stream(), next[stream()]);
                let Some(packet) = self.packet(stream, at) else {
                    return [vec![0; 56], words(&[3, 0])].concat();
                };
                next[stream] += 1;
                let field = |at: usize| u64::from_le_bytes(packet[at..at + 8].try_into().expect("8 bytes"));
                let index = [(at as u64) << 32, field(56), field(48), field(32), field(40), field(72), 0];
                [index.iter().flat_map(|field| field.to_be_bytes()).collect(), words(&[1, 0])].concat()
            }
            5 => {
                // The upper half is the packet's number, the lower one an offset in it.
                let offset = u64::from_be_bytes(body[8..16].try_into().expect("8 bytes")) as usize;
                let length = u32::from_be_bytes(body[16..20].try_into().expect("4 bytes"));
                let packet = self.packet(stream(), offset >> 32).expect("it was announced");
                let begin = offset & 0xFFFF_FFFF;
                [words(&[1, length, 0]), packet[begin..begin + length as usize].to_vec()].concat()
            }
            6 if !std::mem::replace(has_metadata, true) => {
                [(self.metadata.len() as u64).to_be_bytes().to_vec(), words(&[1]), self.metadata.clone()]
                    .concat()
            }
            6 => [0_u64.to_be_bytes().to_vec(), words(&[2])].concat(),
            7 => {
                let is_done = |(place, stream): (usize, &usize)| self.packet(place, *stream).is_none();
                let has_ended = self.ends && next.iter().enumerate().all(is_done);
                words(&[if has_ended { 4 } else { 2 }, 0])
            }
            _ => words(&[1]),
        }
    }
}

/// Metadata as relays send it: in packets. Text becomes one of them.
fn packetised(metadata: Vec<u8>) -> Vec<u8> {
    const MAGIC: [u8; 4] = 0x75D1_1D57_u32.to_le_bytes();
    if metadata.starts_with(&MAGIC) {
        return metadata;
    }
    let text = String::from_utf8_lossy(&metadata);
    let digits = text.split("uuid = \"").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or_default();
    let digits: String = digits.chars().filter(|digit| *digit != '-').collect();
    let byte = |place: usize| {
        digits.get(2 * place..2 * place + 2).and_then(|byte| u8::from_str_radix(byte, 16).ok()).unwrap_or(0)
    };
    let uuid: Vec<u8> = (0..16).map(byte).collect();
    let bits = 8 * (37 + metadata.len() as u32);
    let sizes = [0, bits, bits].map(u32::to_le_bytes).concat();
    [MAGIC.to_vec(), uuid, sizes, vec![0, 0, 0, 1, 8], metadata].concat()
}

fn words(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_be_bytes()).collect()
}

fn text(name: &str, size: usize) -> Vec<u8> {
    let mut bytes = name.as_bytes().to_vec();
    bytes.resize(size, 0);
    bytes
}

fn description(id: u64, is_metadata: bool) -> Vec<u8> {
    let mut bytes = [id.to_be_bytes(), 1_u64.to_be_bytes()].concat();
    bytes.extend(u32::from(is_metadata).to_be_bytes());
    bytes.extend(text("ust/uid/0/64-bit", 4096));
    bytes.extend(text(&format!("ch_{id}"), 255));
    bytes
}
