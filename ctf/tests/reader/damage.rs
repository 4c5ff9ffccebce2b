//! Traces that are damaged or not finished: what is sound is read, and the rest is named.

use std::fs;

use fastrand::Rng;

use crate::support::{PACKET, Recording, Seen, assert_same, copy_folder};

/// Whether all events are among the others, each as often at most. Both are in the same order.
pub fn is_part_of(part: &[Seen], all: &[Seen]) -> bool {
    let mut all = all.iter();
    part.iter().all(|event| all.any(|other| other == event))
}

#[test]
fn truncated_at_any_byte_all_before_the_cut_is_read() {
    let (all, sound) = Recording::copy().read();
    assert_eq!((sound.events, &sound.damage[..]), (1800, &[][..]));
    let recorded = Recording::copy();
    let stream = recorded.stream();
    let whole = fs::metadata(&stream).unwrap().len();
    let packets = sound.traces[0].packets;
    assert!(whole > 4 * PACKET, "{whole} bytes are too few for this test");
    // Every byte of a stretch over a packet's border, and some of everywhere, from the end to the beginning.
    let mut lengths: Vec<u64> = (2 * PACKET - 60..2 * PACKET + 200).collect();
    lengths.extend((0..whole).step_by(997));
    lengths.sort();
    let (mut later, mut later_length) = (all.len(), whole);
    for length in lengths.into_iter().rev() {
        fs::OpenOptions::new().write(true).open(&stream).unwrap().set_len(length).unwrap();
        let (events, report) = recorded.read();
        assert!(is_part_of(&events, &all), "invented an event at {length} bytes");
        let lost = later - events.len();
        assert!(lost as u64 <= (later_length - length).div_ceil(14), "lost {lost} events at {length} bytes");
        let named: Vec<_> = report.damage.iter().map(|damage| damage.path.as_path()).collect();
        match length % PACKET {
            0 => assert!(named.is_empty(), "{named:?}"),
            _ => assert_eq!(named, [&stream]),
        }
        assert!(report.traces[0].packets <= packets);
        (later, later_length) = (events.len(), length);
    }
}

#[test]
fn empty_stream_file_is_not_damage() {
    let recorded = Recording::copy();
    let (all, _) = recorded.read();
    fs::write(recorded.trace().join("small_99"), "").unwrap();
    let (events, report) = recorded.read();
    assert_same(&events, &all);
    assert_eq!(report.damage, []);
}

#[test]
fn unreadable_stream_file_is_named_and_the_others_are_read() {
    let recorded = Recording::copy();
    let (all, _) = recorded.read();
    std::os::unix::fs::symlink("nowhere", recorded.trace().join("small_99")).unwrap();
    let (events, report) = recorded.read();
    assert_same(&events, &all);
    let [damage] = &report.damage[..] else { panic!("{:?}", report.damage) };
    assert!(damage.path.ends_with("small_99"));
    assert!(damage.reason.starts_with("cannot be read: No such file"), "{damage}");
}

#[test]
fn corrupt_event_costs_the_rest_of_its_packet_only() {
    let recorded = Recording::copy();
    let (all, sound) = recorded.read();
    // An event id that the metadata does not know, soon after the packet's header.
    recorded.overwrite(PACKET + 200, &[0xF0; 64]);
    let (events, report) = recorded.read();
    let lost = all.len() - events.len();
    assert!((1..300).contains(&lost), "{lost} events are lost");
    let [damage] = &report.damage[..] else { panic!("{:?}", report.damage) };
    assert_eq!(damage.path, recorded.stream());
    assert!(damage.offset.is_some_and(|offset| (PACKET..2 * PACKET).contains(&offset)), "{damage}");
    assert_eq!(report.traces[0].packets, sound.traces[0].packets);
    assert_eq!(report.discarded_events, sound.discarded_events);
}

#[test]
fn corrupt_packet_header_costs_its_packet_only() {
    let corruptions: [(u64, &[u8]); 6] = [
        (0, &[0; 80]),             // nothing is right
        (4, &[0; 16]),             // another trace
        (20, &[9]),                // another stream
        (48, &[0xFF; 7]),          // more content than packet
        (48, &[0; 16]),            // sizes of 0
        (56, &[0, 0, 0, 0, 0, 1]), // larger than the file
    ];
    for (at, bytes) in corruptions {
        let recorded = Recording::copy();
        let (all, sound) = recorded.read();
        recorded.overwrite(PACKET + at, bytes);
        let (events, report) = recorded.read();
        assert!(is_part_of(&events, &all), "invented an event with {bytes:?} at {at}");
        let [damage] = &report.damage[..] else { panic!("{:?}", report.damage) };
        assert_eq!((damage.path.clone(), damage.offset), (recorded.stream(), Some(PACKET)));
        assert_eq!(report.traces[0].packets + 1, sound.traces[0].packets, "with {bytes:?} at {at}");
    }
}

#[test]
fn packet_left_open_is_read_and_named() {
    let recorded = Recording::copy();
    let (all, _) = recorded.read();
    recorded.overwrite(PACKET + 40, &[0; 8]);
    recorded.overwrite(PACKET + 48, &[0xFF; 16]);
    let (events, report) = recorded.read();
    // Zeros at the last event's end look like bytes that were not written.
    assert!(all.len() - events.len() <= 1, "{} of {} events", events.len(), all.len());
    assert!(is_part_of(&events, &all));
    let [damage] = &report.damage[..] else { panic!("{:?}", report.damage) };
    assert_eq!(damage.offset, Some(PACKET));
    assert!(damage.reason.starts_with("the tracer did not close this packet"), "{damage}");
}

#[test]
fn corrupt_index_does_no_harm() {
    let recorded = Recording::copy();
    let (all, _) = recorded.read();
    for index in fs::read_dir(recorded.trace().join("index")).unwrap() {
        let path = index.unwrap().path();
        let mut bytes = fs::read(&path).unwrap();
        bytes[12..16].fill(0); // the size of an entry, by which Babeltrace 2.0.4 divides
        fs::write(&path, bytes).unwrap();
    }
    assert_same(&recorded.read().0, &all);
}

#[test]
fn bad_trace_next_to_a_good_one_is_reported() {
    let recorded = Recording::copy();
    let (all, _) = recorded.read();
    let bad = recorded.folder().join("bad");
    copy_folder(&recorded.trace(), &bad);
    fs::write(bad.join("metadata"), "/* CTF 1.8 */ nonsense {").unwrap();
    let (events, report) = recorded.read();
    assert_same(&events, &all);
    assert!(!report.damage.is_empty());
    for damage in &report.damage {
        assert!(damage.path.starts_with(&bad), "{damage}");
    }
}

#[test]
fn random_bytes_in_a_stream_are_survived() {
    let recorded = Recording::copy();
    let stream = recorded.stream();
    let sound = fs::read(&stream).unwrap();
    let mut random = Rng::with_seed(1);
    let mut damaged = 0;
    for _ in 0..100 {
        let mut bytes = sound.clone();
        for _ in 0..4 {
            let at = random.usize(..bytes.len());
            bytes[at] = random.u8(..);
        }
        fs::write(&stream, bytes).unwrap();
        // Reading compares the sources.
        let (_, report) = recorded.read();
        damaged += usize::from(!report.damage.is_empty());
    }
    assert!(damaged > 10, "only {damaged} of 100 were noticed");
}
