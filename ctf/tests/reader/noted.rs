//! Events that a reading has noted, read again without the others.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::ops::ControlFlow;
use std::sync::Arc;

use ctf_reader::{
    Collect, Collected, EventClass, Events, NotedEvents, Progress, Reader, Wanted, Window, all_fields,
};
use fastrand::Rng;

use crate::support::SharedTrace;
use crate::support::value_text::text;

/// Keeps all events as text, and notes one of some, or says nothing of that.
struct Noting {
    classes: BTreeMap<usize, Arc<EventClass>>,
    seen: Vec<(i64, String)>,
    one_in: Option<i64>,
    noted: Vec<usize>,
    /// Whether the time never went back from event to event that were handed over together.
    is_in_order: bool,
}

impl Noting {
    fn one_in(one_in: Option<i64>) -> Noting {
        let (classes, seen, noted) = (BTreeMap::new(), Vec::new(), Vec::new());
        Noting { classes, seen, one_in, noted, is_in_order: true }
    }
}

/// Whether an event of a time is one of those.
fn is_chosen(time: i64, one_in: i64) -> bool {
    (time / 7) % one_in == 0
}

impl Collect for Noting {
    type Stop = Infallible;

    fn want(&mut self, class: &Arc<EventClass>) -> Option<Wanted> {
        self.classes.insert(class.index, Arc::clone(class));
        all_fields(class)
    }

    fn events(&mut self, events: &Events<'_>) -> ControlFlow<Infallible> {
        let class = &self.classes[&events.class];
        self.noted.clear();
        let mut last = i64::MIN;
        for event in events.iter() {
            let time = event.timestamp();
            let values =
                Wanted::all(class).fields().map(|field| text(&event.value(field))).collect::<Vec<_>>();
            self.seen.push((time, format!("{} {}", class.name, values.join(" "))));
            self.noted.extend(self.one_in.filter(|&some| is_chosen(time, some)).map(|_| event.number));
            self.is_in_order &= last <= time;
            last = time;
        }
        ControlFlow::Continue(())
    }

    fn noted(&self) -> Option<&[usize]> {
        self.one_in.map(|_| &*self.noted)
    }

    fn split(&self) -> Noting {
        Noting { classes: self.classes.clone(), ..Noting::one_in(self.one_in) }
    }

    fn absorb(&mut self, other: Noting) {
        self.seen.extend(other.seen);
        self.is_in_order &= other.is_in_order;
    }
}

/// The events of a window in order, as far as they were noted.
fn read(reader: &Reader, window: Window, noted: &mut NotedEvents, one_in: Option<i64>) -> Vec<(i64, String)> {
    let progress = Progress::default();
    let Collected { collector, report, .. } =
        reader.read_noted(noted, window, Noting::one_in(one_in), &progress);
    assert_eq!(report.events, collector.seen.len() as u64);
    assert!(collector.is_in_order);
    let mut seen = collector.seen;
    seen.sort();
    seen
}

/// Asserts that all noted events are read again, and nothing else of packets of which all could be noted. Returns how many events
/// were read the first time, and again.
fn assert_noted(reader: &Reader, window: Window, one_in: i64, are_all_notable: bool) -> [usize; 2] {
    let mut noted = NotedEvents::default();
    let all = read(reader, window, &mut noted, Some(one_in));
    let again = read(reader, window, &mut noted, None);
    let chosen: Vec<_> = all.iter().filter(|(time, _)| is_chosen(*time, one_in)).cloned().collect();
    match are_all_notable {
        true => assert!(again == chosen, "{} for {}", again.len(), chosen.len()),
        false => {
            let of_chosen: Vec<_> =
                again.iter().filter(|(time, _)| is_chosen(*time, one_in)).cloned().collect();
            assert!(of_chosen == chosen && again.iter().all(|event| all.binary_search(event).is_ok()));
        }
    }
    // Nothing is forgotten by that.
    assert!(read(reader, window, &mut noted, Some(one_in)) == again);
    [all.len(), again.len()]
}

/// LTTng's large event header, and three classes, of which `list` is decoded value by value.
const METADATA: &str = r#"/* CTF 1.8 */
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
typealias integer { size = 32; map = clock.c.value; } := time32;
typealias integer { size = 64; map = clock.c.value; } := time64;
stream {
	id = 0;
	packet.context := struct {
		time64 timestamp_begin; time64 timestamp_end; u64 content_size; u64 packet_size;
		u64 packet_seq_num; u64 events_discarded; u32 cpu_id;
	};
	event.header := struct {
		enum : u16 { compact = 0 ... 65534, extended = 65535 } id;
		variant <id> {
			struct { time32 timestamp; } compact;
			struct { u32 id; time64 timestamp; } extended;
		} v;
	};
};
event { name = "texts"; id = 0; stream_id = 0; fields := struct { string _name; u64 _duration; string _more; }; };
event { name = "number"; id = 1; stream_id = 0; fields := struct { u64 _duration; }; };
event { name = "list"; id = 2; stream_id = 0; fields := struct { u32 _n; u16 _x[_n]; }; };
"#;

/// A packet of events of the first classes, and the time of its last one. Of some the clock steps back.
fn packet(random: &mut Rng, sequence: u64, mut time: u64, classes: u16) -> (Vec<u8>, u64) {
    let begin = time;
    let mut events = Vec::new();
    let longest = *random.choice(&[10, 400]).unwrap();
    for _ in 0..*random.choice(&[0, 5, 300, 3000]).unwrap() {
        let class = random.u16(..classes);
        // Now and then for longer than a note can say.
        let passed = if random.u16(..500) == 0 { random.u64(..20_000_000_000) } else { random.u64(..100) };
        let has_stepped = random.u16(..1000) == 0;
        if has_stepped {
            time = time.saturating_sub(random.u64(..50_000));
        }
        time += passed;
        if passed > u64::from(u32::MAX) || has_stepped || random.u16(..200) == 0 {
            events.extend(u16::MAX.to_le_bytes());
            events.extend(u32::from(class).to_le_bytes());
            events.extend(time.to_le_bytes());
        } else {
            events.extend(class.to_le_bytes());
            events.extend((time as u32).to_le_bytes());
        }
        let mut text = || [vec![b'x'; random.usize(..longest)], vec![0]].concat();
        match class {
            0 => events.extend([text(), time.to_le_bytes().to_vec(), text()].concat()),
            1 => events.extend(time.to_le_bytes()),
            _ => events.extend([2, 0, 0, 0, 1, 2, 3, 4]),
        }
    }
    let mut bytes = 0xC1FC_1FC1_u32.to_le_bytes().to_vec();
    bytes.extend(0..16);
    bytes.extend([0; 12]);
    let size = (96 + events.len() as u64) * 8 - 96;
    for value in [begin, time, size, size, sequence, 0] {
        bytes.extend(value.to_le_bytes());
    }
    bytes.extend(7_u32.to_le_bytes());
    bytes.extend(events);
    let size = bytes.len() as u64 * 8;
    for at in [48, 56] {
        bytes[at..at + 8].copy_from_slice(&size.to_le_bytes());
    }
    (bytes, time)
}

#[test]
fn noted_events_are_read_again_alone() {
    let first = fastrand::u64(..);
    let mut counts = [0; 2];
    for seed in first..first + 30 {
        let mut random = Rng::with_seed(seed);
        let classes = random.u16(1..4);
        let (mut streams, mut end) = (Vec::new(), 0);
        for stream in 0..1 + random.usize(..3) {
            let (mut bytes, mut time) = (Vec::new(), random.u64(..1000));
            for sequence in 0..random.u64(..4) {
                let (packet, last) = packet(&mut random, sequence, time, classes);
                (bytes, time, end) = ([bytes, packet].concat(), last, end.max(last));
            }
            if random.u8(..4) == 0 {
                bytes.truncate(bytes.len() - random.usize(..=bytes.len() / 2));
            }
            streams.push((stream.to_string().into(), Arc::from(bytes)));
        }
        let reader = Reader::from_bytes(METADATA.as_bytes(), streams).unwrap().threads(random.usize(1..4));
        for _ in 0..3 {
            let mut moment = || random.bool().then(|| random.u64(..end + 100) as i64);
            let window = Window { since: moment(), until: moment() };
            println!("seed {seed}, {window:?}");
            let read = assert_noted(&reader, window, random.i64(1..50), classes < 3);
            if classes < 3 {
                counts = [counts[0] + read[0], counts[1] + read[1]];
            }
        }
    }
    let [all, again] = counts;
    assert!(all > 10_000 && again < all / 4, "{again} of {all}");
}

#[test]
fn noted_events_of_a_server_are_read_again_alone() {
    let trace = SharedTrace::unpack();
    let reader = Reader::open(&[trace.folder()]).unwrap();
    let [all, again] = assert_noted(&reader, Window::default(), 40, true);
    assert!(all == 267_919 && (1..all / 20).contains(&again), "{again}");
}
