//! What is found is the same whether the second reading goes by what the first has noted or looks at everything.

use std::convert::Infallible;

use ctf_reader::{Collect, Error, NotedEvents, Progress, Reader, Report};
use fastrand::Rng;

use super::*;
use crate::groups::GROUP_CAP;
use crate::reading::synthetic::by;
use crate::source::{Readers, Source};

/// Reads as others do, and counts the events of the last reading. Notes are used or not.
struct Counting<'r> {
    readers: Readers<'r>,
    uses_notes: bool,
    read: u64,
}

impl Source for Counting<'_> {
    fn span(&mut self) -> Result<Option<RangeInclusive<i64>>, Error> {
        self.readers.span()
    }

    fn read_noted<C: Collect<Stop = Infallible>>(
        &mut self,
        noted: &mut NotedEvents,
        window: Window,
        collector: C,
        progress: &Progress,
    ) -> Result<(C, Report), Error> {
        let mut nothing = NotedEvents::default();
        let noted = if self.uses_notes { noted } else { &mut nothing };
        let read = self.readers.read_noted(noted, window, collector, progress)?;
        self.read = read.1.events;
        Ok(read)
    }

    fn in_order(&self) -> Option<Readers<'_>> {
        Some(self.readers)
    }
}

/// What is found in a window, as JSON, and the number of events of the last reading.
fn found(reader: &Reader, window: Window, by_field: &str, cap: usize, uses_notes: bool) -> (String, u64) {
    let by_fields: Vec<&str> = by_field.split(',').collect();
    let readers = Readers { events: reader, samples: None };
    let mut source = Counting { readers, uses_notes, read: 0 };
    let progress = Progress::default();
    let mut input = SourceWindow { source: &mut source, window, progress: &progress };
    let found = outliers(&mut input, &by(&by_fields), &Rule::default(), false, 20, cap);
    (serde_json::to_string(&found.expect("it is found")).expect("it is JSON"), source.read)
}

const METADATA: &str = r#"/* CTF 1.8 */
typealias integer { size = 8; } := u8;
typealias integer { size = 16; } := u16;
typealias integer { size = 32; signed = true; } := i32;
typealias integer { size = 32; } := u32;
typealias integer { size = 64; } := u64;
trace {
	major = 1; minor = 8; byte_order = le;
	packet.header := struct { u32 magic; u64 stream_instance_id; };
};
clock { name = "c"; freq = 1000000000; };
typealias integer { size = 32; map = clock.c.value; } := time32;
typealias integer { size = 64; map = clock.c.value; } := time64;
stream {
	packet.context := struct { time64 timestamp_begin; time64 timestamp_end; };
	event.header := struct {
		enum : u16 { compact = 0 ... 65534, extended = 65535 } id;
		variant <id> {
			struct { time32 timestamp; } compact;
			struct { u32 id; time64 timestamp; } extended;
		} v;
	};
	event.context := struct { i32 _vpid; };
};
event { name = "app:request"; id = 0; fields := struct { string _name; string _user; u64 _duration_us; }; };
event { name = "app:turn"; id = 1; fields := struct { u64 _duration_us; }; };
"#;

/// Requests of common and rare names and users, of which some took long, alone, in bursts or for a while.
fn trace(random: &mut Rng) -> Reader {
    let processes = *random.choice(&[1, 1, 1, 3]).unwrap();
    let names = *random.choice(&[2, 3, 3, 20, 400]).unwrap();
    let has_bursts = random.bool();
    let streams = (0..2_u64).map(|stream| {
        let mut bytes = 0xC1FC_1FC1_u32.to_le_bytes().to_vec();
        bytes.extend(stream.to_le_bytes());
        bytes.extend([0; 16]);
        let (mut time, mut slower) = (1_000_000_000_u64, 1);
        for _ in 0..random.u32(1000..50_000) {
            time += random.u64(..2000);
            if random.u16(..2000) == 0 {
                slower = if has_bursts && random.bool() { 10 } else { 1 };
            }
            // The first names are common, the last are rare.
            let name = (f64::from(names) * random.f64().powi(4)) as u32;
            let usual = random.u64(..3) + u64::from(name % 3) * 4;
            let duration = match random.u32(..5000) {
                0 => 1000 + random.u64(..1000),
                1 => u64::MAX,
                2..50 => usual + 20,
                _ => usual * slower,
            };
            // Long ones are mostly of the same user.
            let user = if duration > 15 { 1 } else { random.u32(..9) };
            let class = u16::from(random.u8(..10) == 0);
            bytes.extend(class.to_le_bytes());
            bytes.extend((time as u32).to_le_bytes());
            bytes.extend((100 + random.i32(..processes)).to_le_bytes());
            if class == 0 {
                bytes.extend(format!("name{name}\0user{user}\0").bytes());
            }
            bytes.extend(duration.to_le_bytes());
        }
        (stream.to_string().into(), Arc::from(bytes))
    });
    Reader::from_bytes(METADATA.as_bytes(), streams.collect()).expect("it is a trace").threads(2)
}

/// Whether fewer events are looked at again with notes, and whether anything is found in common, in a random trace and question.
fn look_again(seed: u64, by_both: bool) -> [bool; 2] {
    let mut random = Rng::with_seed(seed);
    let reader = trace(&mut random);
    let moment = |random: &mut Rng| (random.u8(..6) == 0).then(|| 1_000_000_000 + random.i64(..50_000_000));
    let window = Window { since: moment(&mut random), until: moment(&mut random) };
    let field = *random.choice(&["name", "name", "user"]).unwrap();
    let field = if by_both { "name,user" } else { field };
    let cap = *random.choice(&[5, GROUP_CAP, GROUP_CAP, GROUP_CAP]).unwrap();
    println!("seed {seed}, {window:?}, {field}, {cap} groups");
    let [(with_notes, read), (without, all)] =
        [true, false].map(|uses_notes| found(&reader, window, field, cap, uses_notes));
    assert!(with_notes == without, "seed {seed}:\n{with_notes}\nfor\n{without}");
    [read < all, without.contains("\"share_of_slow\"")]
}

#[test]
fn noted_events_are_all_that_is_looked_at_again() {
    let mut fewer_and_shared = [0; 2];
    for seed in 0..10 {
        let counts = fewer_and_shared.iter_mut().zip(look_again(seed, false));
        counts.for_each(|(count, is_so)| *count += usize::from(is_so));
    }
    assert!(fewer_and_shared.iter().all(|count| *count >= 2), "{fewer_and_shared:?} of 10");
    let first = fastrand::u64(..);
    (0..8).for_each(|seed| _ = look_again(first.wrapping_add(seed), seed % 4 == 0));
}

#[test]
fn of_a_server_a_part_of_all_events_is_looked_at_again() {
    let folder = lttng_testing::unpack(&lttng_testing::workspace().join("tests/data/valkey-causes.tar.xz"));
    let reader = Reader::open(&[folder.path()]).expect("it is a trace");
    let [(with_notes, read), (without, all)] =
        [true, false].map(|uses_notes| found(&reader, Window::default(), "name", GROUP_CAP, uses_notes));
    assert!(with_notes == without, "{with_notes}\nfor\n{without}");
    assert!(read < all / 4, "{read} of {all}");
}
