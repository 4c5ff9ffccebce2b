//! A trace of `command_call` events, written as LTTng-UST writes them, but faster than it can record.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

const UUID: &str = "6ce7ab66-7763-491f-9c28-0eccaf4265ec";
const UUID_BYTES: [u8; 16] =
    [0x6c, 0xe7, 0xab, 0x66, 0x77, 0x63, 0x49, 0x1f, 0x9c, 0x28, 0x0e, 0xcc, 0xaf, 0x42, 0x65, 0xec];

/// As large as the sub-buffers of LTTng's per-user channels.
const PACKET: usize = 512 << 10;

/// The packet header and context of LTTng on a 64-bit system.
const HEADER: usize = 84;

/// What a server is asked for, common commands more often.
const NAMES: [&str; 8] = ["get", "get", "get", "set", "set", "hgetall", "lpush", "zrangebyscore"];

/// Writes a trace with this number of events, in this number of streams, of 50 clients, into a new folder.
pub fn write(folder: &Path, events: u64, streams: u64) -> io::Result<()> {
    write_of(folder, events, streams, 50)
}

/// The same of another number of clients.
pub fn write_of(folder: &Path, events: u64, streams: u64, clients: u64) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for stream in 0..streams {
        let share = events / streams + u64::from(stream < events % streams);
        write_stream(&folder.join(format!("ch_{stream}")), stream, share, 400 * streams, clients)?;
    }
    // Last, so that a trace that has metadata is complete.
    fs::write(folder.join("metadata"), metadata())
}

/// Writes a stream of one thread, which begins each command up to this many nanoseconds after the end of the last one.
fn write_stream(path: &Path, stream: u64, events: u64, apart: u64, clients: u64) -> io::Result<()> {
    let (mut random, mut clock) = (Random(stream + 1), BEGIN);
    let calls = (0..events).map(|_| {
        // Most take a microsecond or two, and very few take long enough to hold others up.
        let duration = if random.below(20_000) == 0 { random.below(20_000) } else { random.below(4) };
        clock += random.below(apart) + duration * 1000;
        let client = 32768 + random.below(clients);
        let name = NAMES[random.below(NAMES.len() as u64) as usize];
        Call { clock, process: 4242, thread: 4242 + stream as u32, client, name, duration }
    });
    write_calls(path, stream, BEGIN, calls)
}

/// When streams begin, on their clock.
pub const BEGIN: u64 = 1_000_000_000;

/// A call of a command.
pub struct Call {
    /// When it ended, in nanoseconds.
    pub clock: u64,
    pub process: u32,
    pub thread: u32,
    /// The number of its client.
    pub client: u64,
    pub name: &'static str,
    /// How long it took, in microseconds.
    pub duration: u64,
}

/// Writes a stream of calls, which are in order.
pub fn write_calls(
    path: &Path,
    stream: u64,
    begin: u64,
    calls: impl Iterator<Item = Call>,
) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    let mut clock = begin;
    let mut packet = Packet::begin(stream, 0, clock);
    for call in calls {
        let event = event(clock, &call);
        clock = call.clock;
        if packet.bytes.len() + event.len() > PACKET {
            packet.close(clock, &mut file)?;
            packet = Packet::begin(stream, packet.sequence + 1, clock);
        }
        packet.bytes.extend_from_slice(&event);
    }
    packet.close(clock, &mut file)?;
    file.flush()
}

struct Packet {
    bytes: Vec<u8>,
    sequence: u64,
}

impl Packet {
    fn begin(stream: u64, sequence: u64, clock: u64) -> Packet {
        let mut bytes = Vec::with_capacity(PACKET);
        bytes.extend(0xC1FC_1FC1_u32.to_le_bytes());
        bytes.extend(UUID_BYTES);
        bytes.extend(0_u32.to_le_bytes());
        bytes.extend(stream.to_le_bytes());
        bytes.extend(clock.to_le_bytes());
        bytes.extend([0; 24]);
        bytes.extend(sequence.to_le_bytes());
        bytes.extend(0_u64.to_le_bytes());
        bytes.extend((stream as u32).to_le_bytes());
        assert_eq!(bytes.len(), HEADER);
        Packet { bytes, sequence }
    }

    /// Fills in the end and the sizes, and writes whole pages.
    fn close(&mut self, clock: u64, file: &mut impl Write) -> io::Result<()> {
        let content = self.bytes.len();
        let size = content.next_multiple_of(4096);
        self.bytes.resize(size, 0);
        for (at, value) in [(40, clock), (48, content as u64 * 8), (56, size as u64 * 8)] {
            self.bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        }
        file.write_all(&self.bytes)
    }
}

/// An event after another one at this time.
fn event(before: u64, call: &Call) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(80);
    // After a long pause all bits of the clock are written.
    if call.clock - before >= 1 << 27 {
        bytes.extend(u16::MAX.to_le_bytes());
        bytes.extend(0_u32.to_le_bytes());
        bytes.extend(call.clock.to_le_bytes());
    } else {
        bytes.extend(0_u16.to_le_bytes());
        bytes.extend((call.clock as u32).to_le_bytes());
    }
    bytes.extend(call.process.to_le_bytes());
    bytes.extend(call.thread.to_le_bytes());
    bytes.extend(0_u32.to_le_bytes());
    bytes.extend(format!("127.0.0.1:{}\0", call.client).bytes());
    bytes.extend(b"127.0.0.1:6379\0");
    bytes.extend(call.name.bytes().chain([0]));
    bytes.extend(call.duration.to_le_bytes());
    bytes
}

/// A small generator of numbers that are the same in each run (xorshift).
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

pub fn metadata() -> String {
    format!(
        r#"/* CTF 1.8 */
typealias integer {{ size = 8; align = 8; signed = false; }} := uint8_t;
typealias integer {{ size = 16; align = 8; signed = false; }} := uint16_t;
typealias integer {{ size = 32; align = 8; signed = false; }} := uint32_t;
typealias integer {{ size = 64; align = 8; signed = false; }} := uint64_t;
trace {{
	major = 1; minor = 8; uuid = "{UUID}"; byte_order = le;
	packet.header := struct {{
		uint32_t magic; uint8_t uuid[16]; uint32_t stream_id; uint64_t stream_instance_id;
	}};
}};
env {{ domain = "ust"; tracer_name = "lttng-ust"; tracer_major = 2; tracer_minor = 13; hostname = "synthetic"; }};
clock {{ name = "monotonic"; freq = 1000000000; offset = 1794699980026185944; }};
typealias integer {{ size = 32; align = 8; signed = false; map = clock.monotonic.value; }} := uint32_clock_t;
typealias integer {{ size = 64; align = 8; signed = false; map = clock.monotonic.value; }} := uint64_clock_t;
struct packet_context {{
	uint64_clock_t timestamp_begin;
	uint64_clock_t timestamp_end;
	uint64_t content_size;
	uint64_t packet_size;
	uint64_t packet_seq_num;
	uint64_t events_discarded;
	uint32_t cpu_id;
}};
struct event_header_large {{
	enum : uint16_t {{ compact = 0 ... 65534, extended = 65535 }} id;
	variant <id> {{
		struct {{ uint32_clock_t timestamp; }} compact;
		struct {{ uint32_t id; uint64_clock_t timestamp; }} extended;
	}} v;
}} align(8);
stream {{
	id = 0;
	event.header := struct event_header_large;
	packet.context := struct packet_context;
	event.context := struct {{
		integer {{ size = 32; align = 8; signed = 1; encoding = none; base = 10; }} _vpid;
		integer {{ size = 32; align = 8; signed = 1; encoding = none; base = 10; }} _vtid;
	}};
}};
event {{
	name = "valkey_commands:command_call"; id = 0; stream_id = 0; loglevel = 13;
	fields := struct {{
		enum : integer {{ size = 32; align = 8; signed = 1; encoding = none; base = 10; }} {{
			"SOCKET" = 0, "UNIX" = 1, "TLS" = 2, "RDMA" = 3
		}} _enum_field;
		string _addr;
		string _laddr;
		string _name;
		integer {{ size = 64; align = 8; signed = 0; encoding = none; base = 10; }} _duration;
	}};
}};
"#
    )
}
