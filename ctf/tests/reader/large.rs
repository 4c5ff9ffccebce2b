//! Events that are large: what one takes in memory is bounded.

use std::convert::Infallible;
use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::ops::ControlFlow;
use std::sync::Arc;

use ctf_reader::{
    Collect, Collected, EventClass, Events, Field, Progress, Reader, Value, Wanted, Window, all_fields,
};

use crate::child::peak_memory_of;
use crate::small::{METADATA, SmallPacket, open};
use crate::support::read_all;

/// The number of elements of an event's lists that are decoded.
const MOST: usize = 65_536;

/// Looks at every list of every event: its elements and its length.
#[derive(Clone, Default)]
struct Lists {
    /// The fields of each class.
    classes: Vec<Vec<Field>>,
    /// By the time of their event.
    seen: Vec<(i64, Vec<u64>, u64)>,
}

impl Collect for Lists {
    type Stop = Infallible;

    fn want(&mut self, class: &Arc<EventClass>) -> Option<Wanted> {
        let wanted = Wanted::all(class);
        self.classes.push(wanted.fields().collect());
        Some(wanted)
    }

    fn events(&mut self, events: &Events<'_>) -> ControlFlow<Infallible> {
        for event in events.iter() {
            for &field in &self.classes[events.class] {
                if let Value::List(list) = event.value(field) {
                    let numbers = list.elements.iter().map(|element| element.integer().unwrap()).collect();
                    self.seen.push((event.timestamp(), numbers, list.length));
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn split(&self) -> Lists {
        Lists { classes: self.classes.clone(), seen: Vec::new() }
    }

    fn absorb(&mut self, other: Lists) {
        self.seen.extend(other.seen);
    }
}

#[test]
fn list_of_a_million_elements_has_the_first_of_them_and_its_length() {
    let numbers: Vec<u16> = (0..1_000_000).map(|number| number as u16).collect();
    let packet = SmallPacket::new(0, 1, 9).event(1, 1).lists(2, 1, &numbers).event(3, 3).lists(4, 1, &[5, 6]);
    let reader = open(&[packet]);
    let Collected { collector, report, .. } =
        reader.read(Window::default(), Lists::default(), &Progress::default());
    assert_eq!((report.events, report.damage), (4, vec![]));
    let first: Vec<u64> = (0..MOST as u64).collect();
    assert!(collector.seen == [(2, first, 1_000_000), (4, vec![5, 6], 2)], "another list");
    let (events, _) = read_all(&reader, Window::default());
    assert_eq!([&events[0], &events[2]].map(|event| event.value("x")), ["1", "3"]);
}

#[test]
fn lists_of_an_event_share_the_limit_and_other_events_do_not() {
    let numbers = vec![7; 40_000];
    let packet = SmallPacket::new(0, 1, 9).lists(1, 2, &numbers).lists(2, 2, &numbers).event(3, 3);
    let Collected { collector, report, .. } =
        open(&[packet]).read(Window::default(), Lists::default(), &Progress::default());
    assert_eq!((report.events, report.damage), (3, vec![]));
    let lengths: Vec<_> =
        collector.seen.iter().map(|(_, elements, length)| (elements.len(), *length)).collect();
    let event = [(40_000, 40_000), (MOST - 40_000, 40_000)];
    assert_eq!(lengths, [event, event].concat());
}

#[test]
fn event_larger_than_64_mb_is_named_and_the_rest_is_read_in_bounded_memory() {
    let peak = peak_memory_of(
        "large::event_larger_than_64_mb_is_named_and_the_rest_is_read_in_bounded_memory",
        || {
            const ELEMENTS: u32 = 200_000_000;
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join("metadata"), METADATA).unwrap();
            let stream = folder.path().join("stream");
            // The elements are a hole in the file, which takes no room.
            let mut packet = SmallPacket::new(0, 1, 9).event(1, 1).lists(2, 1, &[]);
            let length = packet.events.len();
            packet.events[length - 4..].copy_from_slice(&ELEMENTS.to_le_bytes());
            let hole = 2 * ELEMENTS as usize;
            let mut file = File::create(&stream).unwrap();
            file.write_all(&packet.bytes_and(hole)).unwrap();
            let end = file.seek(SeekFrom::Current(hole as i64)).unwrap();
            file.write_all(&SmallPacket::new(1, 10, 19).event(11, 3).event(12, 4).bytes()).unwrap();
            for threads in [1, 2] {
                let reader = Reader::open(&[folder.path()]).unwrap().threads(threads);
                let (events, report) = read_all(&reader, Window::default());
                let numbers: Vec<_> = events.iter().map(|event| event.value("x")).collect();
                assert_eq!(numbers, ["1", "3", "4"]);
                let [damage] = &report.damage[..] else { panic!("{:?}", report.damage) };
                assert!(damage.path == stream && damage.offset.unwrap() < end, "{damage}");
                assert!(damage.reason.starts_with("an event is larger than 64 MB"), "{damage}");
            }
        },
    );
    assert!(peak < 200 << 20, "{peak} bytes of memory");
}

#[test]
fn merging_takes_no_more_memory_the_more_packets_there_are() {
    const PACKETS: u64 = 4000;
    let peak = peak_memory_of("large::merging_takes_no_more_memory_the_more_packets_there_are", || {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("metadata"), METADATA).unwrap();
        let mut file = File::create(folder.path().join("stream")).unwrap();
        for number in 0..PACKETS {
            let begin = number * 1000;
            let packet = SmallPacket::new(number, begin, begin + 300);
            let packet = (0..300).fold(packet, |packet, event| packet.event(begin + event, 0));
            file.write_all(&packet.bytes()).unwrap();
        }
        for threads in [1, 2] {
            let reader = Reader::open(&[folder.path()]).unwrap().threads(threads);
            let mut events = reader.in_order(Window::default(), all_fields);
            events.next_events(usize::MAX, |_| ControlFlow::Continue(()));
            assert_eq!(events.report().events, 300 * PACKETS);
        }
    });
    assert!(peak < 8 << 20, "{peak} bytes of memory");
}
