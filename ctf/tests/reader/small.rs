//! Small traces, written packet by packet.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ctf_reader::Reader;
use tempfile::TempDir;

/// Events `e` with a number, `list` with a list of numbers and `lists` with two, and `numbered` with a number in its stream.
/// Event headers have whole timestamps.
pub const METADATA: &str = r#"/* CTF 1.8 */
typealias integer { size = 8; } := u8;
typealias integer { size = 16; } := u16;
typealias integer { size = 32; } := u32;
typealias integer { size = 64; } := u64;
trace {
	major = 1; minor = 8; byte_order = le;
	uuid = "00010203-0405-0607-0809-0a0b0c0d0e0f";
	packet.header := struct { u32 magic; u8 uuid[16]; u32 stream_id; u64 stream_instance_id; };
};
clock { name = "c"; freq = 1000000000; };
typealias integer { size = 64; map = clock.c.value; } := time64;
stream {
	id = 0;
	packet.context := struct {
		time64 timestamp_begin; time64 timestamp_end; u64 content_size; u64 packet_size;
		u64 packet_seq_num; u64 events_discarded;
	};
	event.header := struct { u8 id; time64 timestamp; };
};
event { name = "e"; id = 0; stream_id = 0; fields := struct { u8 x; }; };
event { name = "list"; id = 1; stream_id = 0; fields := struct { u32 n; u16 x[n]; }; };
event { name = "lists"; id = 2; stream_id = 0; fields := struct { u32 n; u16 x[n]; u16 y[n]; }; };
event { name = "numbered"; id = 3; stream_id = 0; fields := struct { u32 _stream; u32 _number; }; };
"#;

/// The id of `numbered`; the one after it is that of a class that metadata may declare later.
pub const NUMBERED: u8 = 3;
pub const LATE_CLASS: &str =
    "event { name = \"late\"; id = 4; stream_id = 0; fields := struct { u32 _stream; u32 _number; }; };\n";

/// How long a packet's header and context are, in bytes.
const HEADER: usize = 80;

/// A packet of a trace with this metadata.
#[derive(Clone, Debug)]
pub struct SmallPacket {
    pub uuid: [u8; 16],
    pub instance: u64,
    pub begin: u64,
    pub end: u64,
    pub sequence: u64,
    pub discarded: u64,
    /// Its events, encoded.
    pub events: Vec<u8>,
}

impl SmallPacket {
    /// A packet without events.
    pub fn new(sequence: u64, begin: u64, end: u64) -> SmallPacket {
        SmallPacket {
            uuid: std::array::from_fn(|i| i as u8),
            instance: 0,
            begin,
            end,
            sequence,
            discarded: 0,
            events: Vec::new(),
        }
    }

    /// Adds an event `e`.
    pub fn event(mut self, timestamp: u64, x: u8) -> SmallPacket {
        self.events.push(0);
        self.events.extend(timestamp.to_le_bytes());
        self.events.push(x);
        self
    }

    /// Adds an event `list` or `lists` with these numbers in each list.
    pub fn lists(mut self, timestamp: u64, count: u8, numbers: &[u16]) -> SmallPacket {
        self.events.push(count);
        self.events.extend(timestamp.to_le_bytes());
        self.events.extend((numbers.len() as u32).to_le_bytes());
        for _ in 0..count {
            self.events.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        }
        self
    }

    /// Adds an event `numbered`, or one of the class that is declared later.
    pub fn numbered(mut self, id: u8, timestamp: u64, stream: u32, number: u32) -> SmallPacket {
        self.events.push(id);
        self.events.extend(timestamp.to_le_bytes());
        self.events.extend([stream, number].into_iter().flat_map(u32::to_le_bytes));
        self
    }

    /// Its bytes, if it is followed by this number of further bytes of content.
    pub fn bytes_and(&self, further: usize) -> Vec<u8> {
        let bits = (HEADER + self.events.len() + further) as u64 * 8;
        let numbers = [self.instance, self.begin, self.end, bits, bits, self.sequence, self.discarded];
        let numbers = numbers.into_iter().flat_map(u64::to_le_bytes);
        let header = 0xC1FC_1FC1_u32.to_le_bytes().into_iter().chain(self.uuid).chain([0; 4]).chain(numbers);
        header.chain(self.events.iter().copied()).collect()
    }

    pub fn bytes(&self) -> Vec<u8> {
        self.bytes_and(0)
    }
}

/// The bytes of a stream file.
pub fn stream(packets: &[SmallPacket]) -> Vec<u8> {
    packets.iter().flat_map(SmallPacket::bytes).collect()
}

/// The bytes of a stream file's index.
pub fn index(packets: &[SmallPacket]) -> Vec<u8> {
    let mut bytes: Vec<u8> = [0xC1F1_DCC1_u32, 1, 1, 9 * 8].into_iter().flat_map(u32::to_be_bytes).collect();
    let mut offset = 0;
    for packet in packets {
        let size = packet.bytes().len() as u64;
        let SmallPacket { begin, end, instance, sequence, .. } = *packet;
        let entry = [offset, size * 8, size * 8, begin, end, 0, 0, instance, sequence];
        bytes.extend(entry.into_iter().flat_map(u64::to_be_bytes));
        offset += size;
    }
    bytes
}

/// Opens a trace of one stream in memory.
pub fn open(packets: &[SmallPacket]) -> Reader {
    let stream: Arc<[u8]> = stream(packets).into();
    Reader::from_bytes(METADATA.as_bytes(), vec![("stream".into(), stream)]).unwrap()
}

/// A small trace on disk, with an index: two streams of two packets, and eight events.
pub struct SmallTrace {
    folder: TempDir,
}

impl SmallTrace {
    /// The number of its events.
    pub const EVENTS: u64 = 8;

    pub fn write() -> SmallTrace {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("metadata"), METADATA).unwrap();
        fs::create_dir(folder.path().join("index")).unwrap();
        for (instance, name) in [(0, "stream_0"), (1, "stream_1")] {
            let packet = |sequence: u64| {
                let begin = 1000 * sequence;
                let packet = SmallPacket { instance, ..SmallPacket::new(sequence, begin, begin + 999) };
                packet.event(begin + 5, 1).event(begin + 6, 2)
            };
            let packets = [packet(0), packet(1)];
            fs::write(folder.path().join(name), stream(&packets)).unwrap();
            fs::write(folder.path().join(format!("index/{name}.idx")), index(&packets)).unwrap();
        }
        SmallTrace { folder }
    }

    /// The folder that holds the metadata.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}
