//! Windows of packets that have been read before: such a reading begins in the middle of a packet.

use std::fs;
use std::sync::Arc;

use ctf_reader::{Nothing, Progress, Reader, Report, Step, Window, all_fields};
use fastrand::Rng;

use crate::small::{METADATA, SmallPacket};

/// The same with the low bits of timestamps only, which overflow.
fn metadata(is_wrapping: bool) -> String {
    let low = "typealias integer { size = 16; map = clock.c.value; } := low;\nstream {";
    match is_wrapping {
        true => METADATA.replace("time64 timestamp; }", "low timestamp; }").replacen("stream {", low, 1),
        false => METADATA.to_owned(),
    }
}

/// Adds a list of about this size, so that few events fill a packet.
fn add(packet: &mut SmallPacket, time: u64, size: usize, is_wrapping: bool) {
    packet.events.push(1);
    let bytes = time.to_le_bytes();
    packet.events.extend(if is_wrapping { &bytes[..2] } else { &bytes });
    packet.events.extend((size as u32).to_le_bytes());
    packet.events.resize(packet.events.len() + 2 * size, 7);
}

/// The times of all events in a window and the lengths of their lists, and what any other order of reading reports.
fn read(reader: &Reader, window: Window) -> (Vec<(i64, String)>, [Report; 2]) {
    let mut events = reader.in_order(window, all_fields);
    let mut seen = Vec::new();
    while let Step::Event(event) = events.next_event() {
        seen.push((event.timestamp(), format!("{} {:?}", event.stream(), event.field("n"))));
    }
    (seen, [events.report(), reader.read(window, Nothing, &Progress::default()).report])
}

/// A stream of packets of which some have several parts, are empty, damaged, or of a clock that was set back.
fn random_stream(random: &mut Rng, instance: u64, is_wrapping: bool) -> (Vec<u8>, u64) {
    let (mut bytes, mut time) = (Vec::new(), random.u64(..1000));
    for sequence in 0..1 + random.u64(..4) {
        let mut packet = SmallPacket { instance, ..SmallPacket::new(sequence, time, 0) };
        let has_steps = !is_wrapping && random.u8(..6) == 0;
        let damaged_at = if random.u8(..6) == 0 { random.usize(..900) } else { usize::MAX };
        for event in 0..*random.choice(&[0, 5, 300, 900]).unwrap() {
            time += random.u64(..100);
            if has_steps && random.u8(..50) == 0 {
                time = time.saturating_sub(random.u64(..20_000));
            }
            add(&mut packet, time, random.usize(..1000), is_wrapping);
            if event == damaged_at {
                packet.events.push(0xEE);
            }
        }
        packet.end = time;
        bytes.extend(packet.bytes());
    }
    if random.u8(..4) == 0 {
        bytes.truncate(bytes.len() - random.usize(..bytes.len() / 2));
    }
    (bytes, time)
}

#[test]
fn window_of_packets_that_were_read_before_has_the_same_events() {
    for seed in 1..40 {
        let mut random = Rng::with_seed(seed);
        let is_wrapping = random.bool();
        let (streams, ends): (Vec<Vec<u8>>, Vec<u64>) =
            (0..1 + random.u64(..3)).map(|stream| random_stream(&mut random, stream, is_wrapping)).unzip();
        let open = || {
            let named = |(number, bytes): (usize, &Vec<u8>)| (number.to_string().into(), Arc::from(&**bytes));
            let streams = streams.iter().enumerate().map(named).collect();
            Reader::from_bytes(metadata(is_wrapping).as_bytes(), streams)
                .unwrap()
                .threads(1 + seed as usize % 3)
        };
        let again = open();
        let all = read(&again, Window::default());
        let end = ends.iter().max().copied().unwrap_or(0);
        for _ in 0..8 {
            let mut moment = || (random.u8(..8) > 0).then(|| random.u64(..end + 100) as i64);
            let window = Window { since: moment(), until: moment() };
            assert!(read(&again, window) == read(&open(), window), "seed {seed}, {window:?}");
        }
        assert!(read(&again, Window::default()) == all, "seed {seed}: all of it again");
    }
}

#[test]
fn second_reading_opens_only_the_part_of_a_packet_that_a_window_needs() {
    let mut packet = SmallPacket::new(0, 0, 100_000);
    (0..1000).for_each(|event| add(&mut packet, event * 100, 1000, false));
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("metadata"), METADATA).unwrap();
    fs::write(folder.path().join("stream"), packet.bytes()).unwrap();
    let reader = Reader::open(&[folder.path()]).unwrap();
    let window = Window { since: Some(50_000), until: Some(50_900) };
    let before = read(&reader, window);
    assert_eq!(before.0.len(), 10);
    // Garbage everywhere but in the middle, which nobody may come across.
    let mut bytes = packet.bytes();
    let length = bytes.len();
    bytes[1000..length / 4].fill(0xEE);
    bytes[length * 3 / 4..].fill(0xEE);
    fs::write(folder.path().join("stream"), bytes).unwrap();
    assert!(read(&reader, window) == before);
    assert_ne!(read(&Reader::open(&[folder.path()]).unwrap(), window), before, "it is garbage");
}

#[test]
fn headers_bound_the_time_between_the_first_and_the_last_event() {
    let mut bounded = 0;
    for seed in 1..200 {
        let mut random = Rng::with_seed(seed);
        let mut bytes: Vec<Vec<u8>> = Vec::new();
        for instance in 0..1 + random.u64(..3) {
            let (mut stream, mut time) = (Vec::new(), random.u64(..1000));
            for sequence in 0..1 + random.u64(..4) {
                let begin = time;
                let mut packet = SmallPacket { instance, ..SmallPacket::new(sequence, begin, 0) };
                for _ in 0..random.usize(..4) {
                    time += random.u64(..100);
                    packet = packet.event(time, 1);
                }
                time += random.u64(..100);
                packet.end = time;
                stream.extend(packet.bytes());
            }
            if random.u8(..8) == 0 {
                stream.truncate(stream.len() - 1);
            }
            bytes.push(stream);
        }
        let named =
            bytes.into_iter().enumerate().map(|(number, bytes)| (number.to_string().into(), bytes.into()));
        let reader = Reader::from_bytes(METADATA.as_bytes(), named.collect()).unwrap();
        // A packet that is cut may have none of the events that its header promises.
        let Some(length) = reader.length() else { continue };
        bounded += 1;
        let span = reader.read(Window::default(), Nothing, &Progress::default()).report.span;
        assert_eq!(reader.span(), span, "seed {seed}");
        let exact = span.map_or(0, |span| span.end().abs_diff(*span.start()));
        assert!(length.contains(&exact), "seed {seed}: {exact} is not in {length:?}");
    }
    assert!(bounded > 100, "{bounded}");
}
