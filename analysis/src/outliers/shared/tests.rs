//! What events have in common, counted from what was recorded of them and from the same events one by one.

use std::sync::Arc;

use ctf_reader::{Discovery, EventClass, TraceFiles, Value};
use fastrand::Rng;

use crate::outliers::{Rule, outliers, slower_than};
use crate::reading::SourceWindow;
use crate::reading::synthetic::{SyntheticSource, by};
use crate::source::{Recording, Source};

/// With LTTng's header: only after that events are read in place.
const METADATA: &str = r#"/* CTF 1.8 */
typealias integer { size = 8; align = 8; encoding = UTF8; } := letter;
typealias integer { size = 32; align = 8; } := u32;
typealias integer { size = 32; align = 8; signed = true; } := i32;
typealias integer { size = 64; align = 8; } := u64;
trace { major = 1; minor = 8; byte_order = le; };
clock { name = c; freq = 1000000000; };
typealias integer { size = 16; align = 8; } := u16;
typealias integer { size = 32; align = 8; map = clock.c.value; } := short_time;
typealias integer { size = 64; align = 8; map = clock.c.value; } := time;
struct header {
    enum : u16 { compact = 0 ... 65534, extended = 65535 } id;
    variant <id> {
        struct { short_time timestamp; } compact;
        struct { u32 id; time timestamp; } extended;
    } v;
} align(8);
stream { event.header := struct header; };
event {
    name = "app:request";
    id = 0;
    fields := struct { u32 _shard; i32 _level; letter _zone[8]; string _peer; string _name; u64 _duration_us; };
};
"#;

/// A request as it is recorded.
#[derive(Clone, Copy, Debug)]
struct Request {
    shard: u32,
    level: i32,
    zone: &'static str,
    peer: &'static str,
    name: &'static str,
    duration: u64,
}

impl Request {
    /// One of which some values make it slow.
    fn random(random: &mut Rng, shards: u32) -> Request {
        let shard = random.u32(..shards);
        let (level, zone) = (random.i32(-2..2), *random.choice(&["east", "west", "far away"]).unwrap());
        let (peer, name) = (*random.choice(&["ada", "grace", "a longer name than is brief"]).unwrap(), "get");
        let name = if random.u8(..) < 50 { "set" } else { name };
        let is_slow = random.u8(..) < 2 + 60 * u8::from(shard == 1) + 90 * u8::from(peer.len() > 20);
        let duration = random.u64(100..130) * if is_slow { 50 } else { 1 };
        Request { shard, level, zone, peer, name, duration }
    }

    fn write(&self, time: u64, bytes: &mut Vec<u8>) {
        let mut zone = [0; 8];
        zone[..self.zone.len()].copy_from_slice(self.zone.as_bytes());
        bytes.extend(u16::MAX.to_le_bytes());
        bytes.extend(0_u32.to_le_bytes());
        bytes.extend(time.to_le_bytes());
        bytes.extend(self.shard.to_le_bytes());
        bytes.extend(self.level.to_le_bytes());
        bytes.extend(zone);
        bytes.extend([self.peer, "\0", self.name, "\0"].concat().bytes());
        bytes.extend(self.duration.to_le_bytes());
    }

    fn values(&self) -> Vec<Value<'static>> {
        vec![
            Value::Unsigned(self.shard.into()),
            Value::Signed(self.level.into()),
            Value::Text(self.zone.as_bytes()),
            Value::Text(self.peer.as_bytes()),
            Value::Text(self.name.as_bytes()),
            Value::Unsigned(self.duration),
        ]
    }
}

/// A recording of requests, a microsecond after each other.
fn recorded(requests: &[Request]) -> Recording {
    let mut bytes = Vec::new();
    requests.iter().zip(1..).for_each(|(request, number)| request.write(number * 1000, &mut bytes));
    let files = TraceFiles::from_bytes(METADATA.into(), vec![("stream".into(), bytes.into())]);
    let none = Discovery { traces: Vec::new(), damage: Vec::new() };
    Recording::open(Discovery { traces: vec![files], damage: Vec::new() }, none).unwrap()
}

/// The same requests one by one.
fn made(class: &EventClass, requests: impl Iterator<Item = Request>) -> SyntheticSource {
    let mut made = SyntheticSource::new(class.clone());
    made.events.extend(requests.zip(1..).map(|(request, number)| (number * 1000, 0, request.values())));
    made
}

/// What is found to be common: among those that are improbable, and among those above a threshold.
fn found(source: &mut impl Source) -> [String; 2] {
    let (window, progress) = Default::default();
    let mut input = SourceWindow { source, window, progress: &progress };
    let (by_name, rule) = (by(&["name"]), Rule::default());
    let improbable = outliers(&mut input, &by_name, &rule, false, 100, 100).unwrap();
    let above = slower_than(&mut input, &by_name, &rule, 1_000_000, 100, 100).unwrap();
    [improbable.shared, above.shared].map(|shared| serde_json::to_string_pretty(&shared).unwrap())
}

#[test]
fn what_is_common_is_found_in_recorded_bytes_as_in_values() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let random = &mut Rng::with_seed(seed);
    // Of one shard only, of a few, and of more than can be told apart, until all are of two.
    for shards in [1, 3, 3000] {
        let shards_of = |number| if number < 6000 { shards } else { shards.min(2) };
        let requests: Vec<Request> =
            (0..12_000).map(|number| Request::random(random, shards_of(number))).collect();
        let mut recording = recorded(&requests);
        let class = Arc::clone(recording.events.classes().next().unwrap());
        let mut made = made(&class, requests.into_iter());
        let of_bytes = found(&mut recording);
        assert_eq!(of_bytes, found(&mut made), "{shards} shards");
        assert!(of_bytes.iter().any(|shared| shared.contains("share_of_slow")), "{shards} shards");
    }
}

#[test]
fn values_that_are_equally_telling_are_always_told_in_the_same_order() {
    let usual = Request { shard: 0, level: 0, zone: "", peer: "", name: "get", duration: 100 };
    let slow = |number: usize| Request {
        peer: ["ada", "bea", "eda", "fay", "ida"][number % 5],
        duration: 5000 + 1000 * (number as u64 % 5),
        ..usual
    };
    let requests: Vec<Request> =
        (0..1000).map(|number| if number % 4 == 0 { slow(number / 4) } else { usual }).collect();
    for _ in 0..10 {
        let [_, above] = found(&mut recorded(&requests));
        let places = ["ada", "bea", "eda", "fay", "ida"].map(|peer| above.find(&format!("\"{peer}\"")));
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{above}");
    }
}
