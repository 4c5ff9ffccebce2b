//! Traces written from timelines: what each thread did, and when, a line each.
//!
//! ```text
//! STREAM TID EVENT BEGIN END [NAME CLIENT]     an interval, in microseconds, recorded at its end
//! STREAM TID EVENT - TIME [NAME CLIENT]        an event without a duration
//! STREAM lost                                  the packet that would follow is missing
//! STREAM packet                                another packet begins
//! without tid                                  threads are not recorded
//! N times every STEP                           the indented lines that follow, again and again, each time STEP later;
//!   0 1 call 10 20 get c0%4                    `c0%4` is c0, c1, c2, c3 and again c0
//! ```
//!
//! Names of events without a provider are those of Valkey.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::fs;

use tempfile::TempDir;

/// The time that timelines count from: nanoseconds since 1970.
pub const BEGIN: u64 = 1_700_000_000_000_000_000;

/// An event of a timeline.
#[derive(Clone, Debug)]
pub struct Recorded {
    pub stream: u32,
    pub tid: u32,
    pub event: String,
    /// Nanoseconds since 1970.
    pub time: u64,
    /// In microseconds; none if the event has no duration.
    pub duration: Option<u64>,
    pub name: String,
    pub client: String,
}

/// What a stream of a timeline holds.
pub enum Item {
    Event(Recorded),
    /// Another packet of the stream begins.
    Packet(u32),
    /// The next packet of the stream is missing.
    Lost(u32),
}

#[derive(Default)]
struct Stream {
    packets: Vec<Packet>,
    /// The number of the next packet.
    sequence: u64,
}

struct Packet {
    sequence: u64,
    events: Vec<(u64, Vec<u8>)>,
}

/// Writes the trace of a timeline.
pub fn write(timeline: &str) -> TempDir {
    write_later(timeline, 0)
}

/// Writes the trace of a timeline, some microseconds later.
pub fn write_later(timeline: &str, later: u64) -> TempDir {
    let has_tid = !timeline.lines().any(|line| line.trim() == "without tid");
    let mut items = Vec::new();
    let mut lines = timeline.lines().peekable();
    while let Some(line) = lines.next() {
        let Some((count, step)) = line.split_once(" times every ") else {
            items.extend(parse(line, 0, later));
            continue;
        };
        let block: Vec<&str> = std::iter::from_fn(|| lines.next_if(|line| line.starts_with("  "))).collect();
        let number = |text: &str| text.parse::<u64>().expect("it is a number");
        for round in 0..number(count) {
            items.extend(block.iter().filter_map(|line| parse(line, round, later + round * number(step))));
        }
    }
    write_items(&items, has_tid)
}

/// A line of a timeline, some microseconds later.
fn parse(line: &str, round: u64, later: u64) -> Option<Item> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (first, rest) = match &words[..] {
        [] | ["#", ..] | ["without", _] => return None,
        [first, rest @ ..] => (first, rest),
    };
    let stream = first.parse().expect("a stream has a number");
    let time = |text: &str| (text.parse::<f64>().expect("it is a time") * 1000.0) as u64 + later * 1000;
    // c0%4 is one of four.
    let client = |text: &str| match text.trim_start_matches('c').split_once('%') {
        Some((first, of)) => {
            let [first, of] = [first, of].map(|text| text.parse::<u64>().expect("it is a number"));
            format!("c{}", (first + round) % of)
        }
        None => text.to_owned(),
    };
    Some(match *rest {
        ["lost"] => Item::Lost(stream),
        ["packet"] => Item::Packet(stream),
        [tid, event, begin, end, ref rest @ ..] => Item::Event(Recorded {
            stream,
            tid: tid.parse().expect("it is a thread"),
            event: event.into(),
            time: BEGIN + time(end),
            duration: (begin != "-").then(|| (time(end) - time(begin)) / 1000),
            name: rest.first().unwrap_or(&"").to_string(),
            client: client(rest.get(1).unwrap_or(&"")),
        }),
        _ => panic!("`{line}` is not part of a timeline"),
    })
}

/// Writes a trace of what streams hold.
pub fn write_items(items: &[Item], has_tid: bool) -> TempDir {
    let mut classes: BTreeMap<String, u32> = BTreeMap::new();
    let mut streams: BTreeMap<u32, Stream> = BTreeMap::new();
    for item in items {
        match item {
            Item::Packet(stream) => streams.entry(*stream).or_default().begin_packet(),
            Item::Lost(stream) => {
                let stream = streams.entry(*stream).or_default();
                stream.sequence += 1;
                stream.begin_packet();
            }
            Item::Event(event) => {
                let next = classes.len() as u32;
                let class = *classes.entry(full_name(&event.event)).or_insert(next);
                let stream = streams.entry(event.stream).or_default();
                if stream.packets.is_empty() {
                    stream.begin_packet();
                }
                let packet = stream.packets.last_mut().expect("one has begun");
                packet.events.push((event.time, event.bytes(class, has_tid)));
            }
        }
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("metadata"), metadata(&classes, has_tid)).expect("it can be written");
    for (number, stream) in &streams {
        let path = folder.path().join(format!("stream_{number}"));
        fs::write(path, stream.bytes(*number)).expect("it can be written");
    }
    folder
}

impl Recorded {
    fn bytes(&self, class: u32, has_tid: bool) -> Vec<u8> {
        let mut bytes = class.to_le_bytes().to_vec();
        bytes.extend(self.time.to_le_bytes());
        bytes.extend(42_u32.to_le_bytes());
        if has_tid {
            bytes.extend(self.tid.to_le_bytes());
        }
        if has_text(&self.event) {
            [&self.name, &self.client].iter().for_each(|text| bytes.extend(text.bytes().chain([0])));
        }
        bytes.extend(self.duration.map(u64::to_le_bytes).into_iter().flatten());
        bytes
    }
}

impl Stream {
    fn begin_packet(&mut self) {
        let sequence = self.sequence;
        self.sequence += 1;
        self.packets.push(Packet { sequence, events: Vec::new() });
    }

    fn bytes(&self, number: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        for Packet { sequence, events } in &self.packets {
            let mut events = events.clone();
            events.sort_by_key(|(time, _)| *time);
            let begin = events.first().map_or(BEGIN, |(time, _)| *time);
            let end = events.last().map_or(BEGIN, |(time, _)| *time);
            let length: usize = events.iter().map(|(_, event)| event.len()).sum();
            let bits = (52 + length as u64) * 8;
            bytes.extend(0xC1FC_1FC1_u32.to_le_bytes());
            bytes.extend(0_u32.to_le_bytes());
            [begin, end, bits, bits, *sequence].iter().for_each(|number| bytes.extend(number.to_le_bytes()));
            bytes.extend(number.to_le_bytes());
            events.iter().for_each(|(_, event)| bytes.extend(event));
        }
        bytes
    }
}

fn full_name(event: &str) -> String {
    let providers = HashMap::from([
        ("turn", "valkey_server:eventloop"),
        ("cron", "valkey_server:eventloop_cron"),
        ("gil", "valkey_server:module_acquire_gil"),
        ("call", "valkey_commands:command_call"),
        ("again", "valkey_server:fast_command"),
        ("fork", "valkey_rdb:fork"),
        ("flush", "valkey_aof:aof_flush"),
        ("write", "valkey_aof:aof_write"),
        ("fsync", "valkey_aof:aof_fsync_always"),
        ("expire", "valkey_db:expire_cycle"),
    ]);
    providers.get(event).unwrap_or(&event).to_string()
}

/// Whether events of this name have a name and a client.
fn has_text(event: &str) -> bool {
    event == "call" || event.contains("call") || event.contains("request")
}

fn metadata(classes: &BTreeMap<String, u32>, has_tid: bool) -> String {
    let tid = if has_tid { "u32 _vtid;" } else { "" };
    let mut text = format!(
        r#"/* CTF 1.8 */
typealias integer {{ size = 32; align = 8; signed = false; }} := u32;
typealias integer {{ size = 64; align = 8; signed = false; }} := u64;
trace {{ major = 1; minor = 8; byte_order = le; packet.header := struct {{ u32 magic; u32 stream_id; }}; }};
env {{ hostname = "here"; tracer_name = "by-hand"; }};
clock {{ name = c; freq = 1000000000; }};
typealias integer {{ size = 64; align = 8; map = clock.c.value; }} := time;
stream {{
  id = 0;
  packet.context := struct {{
    time timestamp_begin; time timestamp_end; u64 content_size; u64 packet_size; u64 packet_seq_num; u32 cpu_id;
  }};
  event.header := struct {{ u32 id; time timestamp; }};
  event.context := struct {{ u32 _vpid; {tid} }};
}};
"#
    );
    for (name, id) in classes {
        let text_fields = if has_text(name) { "string _name; string _addr;" } else { "" };
        let is_timed = !name.ends_with("_entry") && !name.ends_with("_exit");
        let duration = if is_timed { "u64 _duration;" } else { "" };
        let unit = if name.starts_with("valkey") {
            duration
        } else {
            &duration.replace("_duration", "_duration_us")
        };
        writeln!(
            text,
            r#"event {{ name = "{name}"; id = {id}; stream_id = 0; fields := struct {{ {text_fields} {unit} }}; }};"#
        )
        .expect("a String takes all that is written");
    }
    text
}
