//! Which packets count, and clocks that run backwards.

use std::fs;
use std::process::Command;

use ctf_reader::{ClockSteps, InOrder, Step, Window};

use crate::arriving::Shared;
use crate::small::{self, METADATA, SmallPacket, open};
use crate::support::read_in_order;

/// The numbers `x` of all events, in the order of time, with the report.
fn read(packets: &[SmallPacket]) -> (Vec<String>, ctf_reader::Report) {
    let (events, report) = read_in_order(&open(packets), Window::default());
    (events.iter().map(|event| event.value("x").to_owned()).collect(), report)
}

#[test]
fn packets_with_one_sequence_number_and_different_times_are_both_read() {
    let packets = [
        SmallPacket::new(0, 100, 200).event(110, 1),
        SmallPacket::new(0, 300, 400).event(310, 2),
        SmallPacket::new(1, 500, 600).event(510, 3),
    ];
    for order in [[0, 1, 2], [1, 0, 2], [2, 1, 0]] {
        let (numbers, report) = read(&order.map(|index| packets[index].clone()));
        assert_eq!(numbers, ["1", "2", "3"]);
        assert_eq!((report.traces[0].packets, report.lost_packets), (3, 0));
        assert_eq!((report.damage, report.clock_steps), (vec![], ClockSteps::default()));
    }
}

#[test]
fn packets_with_one_sequence_number_and_beginning_but_different_ends_are_both_read() {
    let (numbers, report) =
        read(&[SmallPacket::new(0, 100, 200).event(110, 1), SmallPacket::new(0, 100, 300).event(210, 2)]);
    assert_eq!(numbers, ["1", "2"]);
    assert_eq!(report.traces[0].packets, 2);
}

#[test]
fn repeated_packet_counts_once() {
    let packet = SmallPacket::new(7, 100, 200).event(110, 1);
    let (numbers, report) = read(&[packet.clone(), packet.clone(), packet]);
    assert_eq!(numbers, ["1"]);
    assert_eq!(report.traces[0].packets, 1);
}

/// Packets of one event each, with these counts of discarded events.
fn packets_with(discarded: &[u64]) -> Vec<SmallPacket> {
    let packet = |(number, &discarded): (usize, &u64)| {
        let (number, begin) = (number as u64, 1000 * number as u64);
        SmallPacket { discarded, ..SmallPacket::new(number, begin, begin + 900).event(begin + 5, 1) }
    };
    discarded.iter().enumerate().map(packet).collect()
}

/// The counters of discarded events in packets, and the number of events that were discarded.
const COUNTERS: [(&[u64], u64); 5] = [
    (&[0, 3, 3, 10], 10),
    // LTTng writes 0 into some packets under overload.
    (&[0, 1, 0, 5, 0], 5),
    (&[7, 0, 0, 0], 7),
    (&[0, 100, 40, 120, 119], 120),
    // A counter of 64 bits that wraps around.
    (&[u64::MAX - 5, u64::MAX, 2], u64::MAX),
];

#[test]
fn count_of_discarded_events_that_steps_back_says_nothing() {
    for (discarded, expected) in COUNTERS {
        let (_, report) = read(&packets_with(discarded));
        assert_eq!(report.discarded_events, expected, "{discarded:?}");
        let gaps = open(&packets_with(discarded)).gaps(Window::default());
        assert!(gaps.iter().all(|gap| gap.since < gap.until), "{discarded:?}: {gaps:?}");
    }
}

#[test]
fn discarded_events_are_counted_the_same_as_packets_arrive() {
    for (discarded, expected) in COUNTERS {
        let source = Shared::stream(METADATA, packets_with(discarded).iter().map(SmallPacket::bytes));
        let mut events = InOrder::new(vec![Box::new(source)], Window::default(), |_| None);
        assert!(matches!(events.next_event(), Step::End));
        assert_eq!(events.report().discarded_events, expected, "{discarded:?}");
    }
}

#[test]
fn babeltrace_2_counts_as_many_discarded_events() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("metadata"), METADATA).unwrap();
    fs::write(folder.path().join("stream"), small::stream(&packets_with(&[0, 3, 3, 10, 25]))).unwrap();
    let read = Command::new("babeltrace2").arg(folder.path()).output().expect("babeltrace2 is installed");
    let said = String::from_utf8(read.stderr).unwrap();
    let counts = said.lines().filter_map(|line| {
        let (_, rest) = line.split_once("Tracer discarded ")?;
        rest.split(' ').next()?.parse::<u64>().ok()
    });
    assert_eq!(counts.sum::<u64>(), 25, "{said}");
}

#[test]
fn packet_with_the_uuid_of_another_trace_is_named_as_that() {
    let foreign = SmallPacket { uuid: [0xAB; 16], ..SmallPacket::new(1, 300, 400).event(310, 2) };
    let (numbers, report) = read(&[
        SmallPacket::new(0, 100, 200).event(110, 1),
        foreign,
        SmallPacket::new(2, 500, 600).event(510, 3),
    ]);
    assert_eq!(numbers, ["1", "3"]);
    let [damage] = &report.damage[..] else { panic!("{:?}", report.damage) };
    assert_eq!(damage.to_string(), "stream at byte 90: the packet's UUID is not that of the metadata");
}

#[test]
fn clock_that_runs_backwards_between_events_is_reported() {
    let (numbers, report) = read(&[SmallPacket::new(0, 100, 200)
        .event(110, 1)
        .event(150, 2)
        .event(120, 3)
        .event(130, 4)
        .event(105, 5)]);
    assert_eq!(numbers, ["5", "1", "3", "4", "2"], "in the order of time");
    assert_eq!((report.clock_steps.count, report.clock_steps.largest_ns), (2, 30));
    assert_eq!((report.events, report.span, report.damage), (5, Some(105..=150), vec![]));
}

#[test]
fn clock_that_runs_backwards_between_packets_is_reported() {
    let packets = [
        SmallPacket::new(0, 1000, 1100).event(1010, 1),
        SmallPacket::new(1, 400, 500).event(410, 2),
        SmallPacket::new(2, 600, 700).event(610, 3),
    ];
    let (numbers, report) = read(&packets);
    assert_eq!(numbers, ["2", "3", "1"], "in the order of time");
    assert_eq!(report.clock_steps.count, 1);
    assert_eq!((report.lost_packets, report.traces[0].packets, report.damage), (0, 3, vec![]));
}

#[test]
fn clock_that_runs_backwards_within_a_packet_loses_nothing_of_a_window() {
    // It was set back by a second in the first packet, so that packet's times say little about its events.
    let packets = [
        SmallPacket::new(0, 2_000_000_000, 1_000_000_500)
            .event(2_000_000_000, 1)
            .event(2_000_000_001, 2)
            .event(1_000_000_002, 3),
        SmallPacket::new(1, 1_000_000_600, 1_000_000_700).event(1_000_000_610, 4),
    ];
    let (numbers, report) = read(&packets);
    assert_eq!(numbers, ["3", "4", "1", "2"]);
    assert_eq!(report.damage, []);
    assert!(report.clock_steps.count > 0);
    assert_eq!(report.clock_steps.largest_ns, 999_999_999);
    for (since, until, expected) in [
        (2_000_000_000, 3_000_000_000, &["1", "2"][..]),
        (1_000_000_000, 1_000_000_100, &["3"]),
        (1_000_000_000, 1_500_000_000, &["3", "4"]),
    ] {
        let (events, _) = read_in_order(&open(&packets), Window { since: Some(since), until: Some(until) });
        let numbers: Vec<_> = events.iter().map(|event| event.value("x")).collect();
        assert_eq!(numbers, expected, "from {since} to {until}");
    }
}
