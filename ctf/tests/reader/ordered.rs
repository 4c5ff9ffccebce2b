//! Events in the order of time: against a brute-force sort of random traces, and fed packet by packet.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{TryRecvError, TrySendError, sync_channel};
use std::thread;

use ctf_reader::{
    ClassIndex, Digest, Digester, Events, InOrder, NextPacket, OrderedEvent, Pause, Reader, Report, Step,
    Value, Window, all_fields,
};
use fastrand::Rng;

use crate::arriving::{self, Piece, Shared};
use crate::small::{LATE_CLASS, METADATA, NUMBERED, SmallPacket};
use crate::support::digests::AllValues;

/// An event: its time, its stream, and its number there.
type EventKey = (i64, u64, u64);

fn packet(stream: u64, sequence: u64, id: u8, span: (u64, u64), events: &[EventKey]) -> Vec<u8> {
    let empty = SmallPacket { instance: stream, ..SmallPacket::new(sequence, span.0, span.1) };
    let numbered = |packet: SmallPacket, &(time, stream, number): &EventKey| {
        packet.numbered(id, time as u64, stream as u32, number as u32)
    };
    events.iter().fold(empty, numbered).bytes()
}

fn open(streams: Vec<Vec<u8>>) -> Reader {
    let named = streams
        .into_iter()
        .enumerate()
        .map(|(number, bytes)| (PathBuf::from(format!("stream {number}")), Arc::<[u8]>::from(bytes)));
    Reader::from_bytes(METADATA.as_bytes(), named.collect()).unwrap()
}

fn read(reader: &Reader, window: Window) -> (Vec<EventKey>, Report) {
    let mut events = reader.in_order(window, all_fields);
    let mut seen = Vec::new();
    while let Step::Event(event) = events.next_event() {
        seen.push((event.timestamp(), number(event.field("stream")), number(event.field("number"))));
    }
    (seen, events.report())
}

/// The same, in pieces of any size, some of which end early, with single events between them.
fn read_in_pieces(reader: &Reader, window: Window, random: &mut Rng) -> (Vec<EventKey>, Report) {
    let digester = AllValues::of(reader);
    let mut events = reader.in_order(window, all_fields).with_digester(digester.clone());
    let mut seen = Vec::new();
    let key = |event: &OrderedEvent<'_>| {
        (event.timestamp(), number(event.field("stream")), number(event.field("number")))
    };
    loop {
        let (most, stop) = (random.u64(..300) as usize, seen.len() + random.u64(..600) as usize);
        let pause = events.next_digests(most, |digested| {
            let event = digested.event();
            let brief = (digested.timestamp(), digested.class(), digested.digest());
            assert_eq!(brief, (event.timestamp(), event.class().index, event.digest()));
            digester.check(&event);
            seen.push(key(&event));
            if seen.len() == stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        // A part of a run; to take nothing is to take the first.
        events.next_runs(most / 4, |run| {
            let taken = random.u64(..=run.iter().count() as u64) as usize;
            run.iter().take(taken.max(1)).for_each(|digested| seen.push(key(&digested.event())));
            ControlFlow::Break(taken)
        });
        match events.next_event() {
            Step::Event(event) => {
                assert_eq!(pause, Pause::Enough);
                seen.push(key(&event));
            }
            Step::Wait => panic!("files never wait"),
            Step::End => return (seen, events.report()),
        }
    }
}

/// The times of all events, or of the first ones, which another thread adds up that reads ahead meanwhile.
fn times_with_helpers(reader: &Reader, most: usize) -> Vec<i64> {
    let mut events = reader.in_order(Window::default(), all_fields);
    let (mut helper, mut of_worker) = (events.helper(), events.helper());
    let (send, receive) = sync_channel(2);
    let worker = thread::spawn(move || {
        let mut times = Vec::new();
        let mut next = || {
            of_worker.wait_for(|| match receive.try_recv() {
                Ok(some) => Some(Some(some)),
                Err(TryRecvError::Empty) => None,
                Err(TryRecvError::Disconnected) => Some(None),
            })
        };
        while let Some(some) = next() {
            let some: Vec<i64> = some;
            times.extend(some);
        }
        times
    });
    let mut some = Vec::new();
    events.next_events(most, |event| {
        some.push(event.timestamp());
        if some.len() == 500 {
            let mut full = std::mem::take(&mut some);
            while let Err(TrySendError::Full(again)) = send.try_send(full) {
                full = again;
                if !helper.help() {
                    thread::yield_now();
                }
            }
            helper.wake_others();
        }
        ControlFlow::Continue(())
    });
    send.send(some).unwrap();
    drop((send, helper));
    worker.join().unwrap()
}

fn number(value: Option<Value<'_>>) -> u64 {
    match value {
        Some(Value::Unsigned(number)) => number,
        other => panic!("{other:?}"),
    }
}

#[test]
fn random_traces_come_as_a_brute_force_sort_has_them() {
    // Big-endian machines are emulated ones, which are slow.
    let seeds = if cfg!(target_endian = "big") { 20 } else { 120 };
    for seed in 1..seeds {
        let mut random = Rng::with_seed(seed);
        let (mut streams, mut expected) = (Vec::new(), Vec::new());
        // Many events share a time where times are few.
        let pace = 1 + random.u64(..40);
        for stream in 0..1 + random.u64(..12) {
            let (mut bytes, mut time, mut count) = (Vec::new(), random.u64(..100), 0);
            let lies = random.u64(..2) == 0;
            for sequence in 0..random.u64(..8) {
                let begin = time;
                let mut events = Vec::new();
                for _ in 0..random.u64(..if sequence == 0 { 2000 } else { 20 }) {
                    time += random.u64(..pace);
                    events.push((time as i64, stream, count));
                    count += 1;
                }
                // Either headers say that packets end before their last events, or packets overlap.
                let end = if lies { begin + random.u64(..1 + time - begin) } else { time + random.u64(..9) };
                bytes.extend(packet(stream, sequence, NUMBERED, (begin, end), &events));
                expected.extend(events);
                if !lies && random.u64(..3) == 0 {
                    time = begin + random.u64(..1 + time - begin);
                }
            }
            streams.push(bytes);
        }
        // Within a stream positions grow with packets, and so do the numbers.
        expected.sort();
        let reader = open(streams);
        let (seen, report) = read(&reader, Window::default());
        assert_eq!(seen, expected, "seed {seed}");
        assert_eq!((report.events, report.damage.len()), (expected.len() as u64, 0), "seed {seed}");
        assert_eq!(report.clock_steps.count, 0, "seed {seed}");
        let in_pieces = read_in_pieces(&reader, Window::default(), &mut random);
        assert_eq!(in_pieces, (seen, report), "seed {seed}");
        let (since, until) = (random.u64(..500) as i64, random.u64(..4000) as i64);
        let (within, _) = read(&reader, Window { since: Some(since), until: Some(until) });
        expected.retain(|(time, ..)| (since..=until).contains(time));
        assert_eq!(within, expected, "seed {seed}, from {since} to {until}");
    }
}

#[test]
fn any_number_of_threads_hands_out_the_same_events() {
    for seed in 1..6 {
        let mut random = Rng::with_seed(seed);
        let (mut streams, mut expected) = (Vec::new(), Vec::new());
        for stream in 0..1 + random.u64(..3) {
            let (mut bytes, mut time, mut count) = (Vec::new(), 0, 0);
            for sequence in 0..1 + random.u64(..4) {
                let begin = time;
                // More than are located at once, and packets of several parts.
                let events: Vec<EventKey> = (0..random.u64(..30_000))
                    .map(|_| {
                        (time, count) = (time + random.u64(..5), count + 1);
                        (time as i64, stream, count)
                    })
                    .collect();
                bytes.extend(packet(stream, sequence, NUMBERED, (begin, time), &events));
                expected.extend(events);
            }
            streams.push(bytes);
        }
        expected.sort();
        let mut reader = open(streams);
        let mut reports = Vec::new();
        for threads in [1, 2, 3, 9] {
            reader = reader.threads(threads);
            let (seen, report) = read(&reader, Window::default());
            assert!(seen == expected, "seed {seed}, {threads} threads");
            reports.push(report);
            // Whoever has seen enough leaves while others still read.
            let mut events = reader.in_order(Window::default(), all_fields);
            let some = random.usize(..1 + expected.len());
            events.next_events(some, |_| ControlFlow::Continue(()));
            let times: Vec<i64> = expected.iter().map(|(time, ..)| *time).collect();
            for most in [usize::MAX, some] {
                let seen = times_with_helpers(&reader, most);
                assert!(seen == times[..most.min(times.len())], "seed {seed}, {threads} threads, {most}");
            }
        }
        assert!(reports.windows(2).all(|pair| pair[0] == pair[1]), "seed {seed}: {reports:?}");
    }
}

/// Needs nothing but the number of events of a class.
struct Counter {
    class: ClassIndex,
    events: AtomicU64,
}

impl Digester for Counter {
    fn digest(&self, events: &Events<'_>, _: &mut [Digest]) {
        assert_ne!(events.class, self.class);
    }

    fn mark_counted(&self, classes: &mut dyn Iterator<Item = (ClassIndex, &mut bool)>) {
        classes.for_each(|(class, is_counted)| *is_counted = class == self.class);
    }

    fn count(&self, class: ClassIndex, events: u64) {
        assert_eq!(class, self.class);
        self.events.fetch_add(events, Ordering::Relaxed);
    }
}

#[test]
fn events_that_are_only_counted_are_not_handed_out() {
    let mut random = Rng::with_seed(5);
    let (mut streams, mut times, mut counted) = (Vec::new(), Vec::new(), Vec::new());
    for stream in 0..3 {
        let mut packet = SmallPacket { instance: stream, ..SmallPacket::new(0, 0, 20_000) };
        for time in (0..20_000).filter(|_| random.bool()).collect::<Vec<u64>>() {
            let is_counted = random.u32(..3) == 0 || (5000..9000).contains(&time);
            if is_counted { &mut counted } else { &mut times }.push(time as i64);
            packet = match is_counted {
                true => packet.numbered(NUMBERED, time, stream as u32, 0),
                false => packet.event(time, 0),
            };
        }
        streams.push(packet.bytes());
    }
    times.sort();
    let mut reader = open(streams);
    let class = reader.classes().find(|class| class.field("number").is_some()).expect("one has it").index;
    for (threads, since) in [(1, 0), (2, 0), (1, 4000)] {
        reader = reader.threads(threads);
        let window = Window { since: Some(since), until: None };
        let counter = Arc::new(Counter { class, events: AtomicU64::new(0) });
        let mut events = reader.in_order(window, all_fields).with_digester(counter.clone());
        let mut seen = Vec::new();
        while let Step::Event(event) = events.next_event() {
            seen.push(event.timestamp());
        }
        let within = |times: &[i64]| times.iter().copied().filter(|time| *time >= since).collect::<Vec<_>>();
        assert!(seen == within(&times), "{threads} threads, since {since}");
        assert_eq!(counter.events.load(Ordering::Relaxed), within(&counted).len() as u64);
        let mut all = reader.in_order(window, all_fields);
        all.next_events(usize::MAX, |_| ControlFlow::Continue(()));
        assert_eq!(events.report(), all.report());
    }
}

#[test]
fn clock_that_steps_back_between_packets_or_within_one_brings_nothing_out_of_order() {
    let between = [
        packet(0, 0, NUMBERED, (100, 130), &[(100, 0, 0), (130, 0, 1)]),
        packet(0, 1, NUMBERED, (50, 60), &[(55, 0, 2)]),
    ];
    let within = packet(1, 0, NUMBERED, (90, 70), &[(90, 1, 0), (95, 1, 1), (40, 1, 2), (70, 1, 3)]);
    let (seen, report) = read(&open(vec![between.concat(), within]), Window::default());
    let expected = [(40, 1, 2), (55, 0, 2), (70, 1, 3), (90, 1, 0), (95, 1, 1), (100, 0, 0), (130, 0, 1)];
    assert_eq!(seen, expected);
    assert_eq!((report.events, report.damage.len()), (7, 0));
    assert!(report.clock_steps.count >= 2, "{:?}", report.clock_steps);
    assert_eq!(report.clock_steps.largest_ns, 55);
}

#[test]
fn hundreds_of_streams_are_merged() {
    let event = |stream: u64, number: u64| ((number * 1000 + stream) as i64, stream, number);
    let streams = (0..600).map(|stream| {
        let packets = (0..5).map(|sequence| {
            let events: Vec<EventKey> = (0..4).map(|number| event(stream, sequence * 4 + number)).collect();
            packet(stream, sequence, NUMBERED, (events[0].0 as u64, events[3].0 as u64), &events)
        });
        packets.flatten().collect()
    });
    let (seen, _) = read(&open(streams.collect()), Window::default());
    let expected: Vec<EventKey> =
        (0..20).flat_map(|number| (0..600).map(move |stream| event(stream, number))).collect();
    assert_eq!(seen, expected);
}

#[test]
fn nobody_waits_for_a_stream_that_is_away_and_sources_may_come_late() {
    let packet = |stream, time: i64| {
        arriving::packet(packet(stream, 0, NUMBERED, (time as u64, time as u64), &[(time, stream, 0)]))
    };
    let first = Shared::arrived([
        Piece::Metadata(METADATA.into()),
        Piece::Stream,
        Piece::Stream,
        Piece::Next(0, packet(0, 10)),
        Piece::Next(0, NextPacket::End),
    ]);
    let mut events = InOrder::new(vec![Box::new(first.clone())], Window::default(), all_fields);
    assert!(matches!(events.next_event(), Step::Wait), "the second stream may have something earlier");
    first.0.borrow_mut().streams[1].push_back(NextPacket::Away);
    assert_eq!(events.next_event().event().map(|event| event.timestamp()), Some(10));
    let end = Piece::Next(0, NextPacket::End);
    let second = Shared::arrived([
        Piece::Metadata(METADATA.into()),
        Piece::Stream,
        Piece::Next(0, packet(0, 30)),
        end,
    ]);
    events.add_source("late", Box::new(second));
    assert_eq!(events.next_event().event().map(|event| event.timestamp()), Some(30));
    // It is back.
    first.0.borrow_mut().streams[1].extend([packet(1, 20), NextPacket::End]);
    events.look_for_more();
    assert_eq!(events.watermark(), Some(20));
    assert_eq!(events.next_event().event().map(|event| event.timestamp()), Some(20), "it comes late");
    assert_eq!(events.report().traces.len(), 2);
}

#[test]
fn lane_that_waits_does_not_hold_back_the_others() {
    let packet =
        |time: i64| arriving::packet(packet(0, 0, NUMBERED, (time as u64, time as u64), &[(time, 0, 0)]));
    let source = |pieces: Vec<Piece>| {
        Shared::arrived([Piece::Metadata(METADATA.into()), Piece::Stream].into_iter().chain(pieces))
    };
    let busy = source([10, 30, 50].map(|time| Piece::Next(0, packet(time))).into());
    let silent = source(Vec::new());
    let mut events = InOrder::new(Vec::new(), Window::default(), all_fields);
    events.add_source_to(0, "busy", Box::new(busy.clone()));
    events.add_source_to(1, "silent", Box::new(silent.clone()));
    let next = |events: &mut InOrder<'_>| events.next_event().event().map(|event| event.timestamp());
    // There may be more at 50.
    let seen: Vec<Option<i64>> = (0..3).map(|_| next(&mut events)).collect();
    assert_eq!(seen, [Some(10), Some(30), None]);
    // What comes late comes in the order of its lane.
    silent.0.borrow_mut().streams[0].extend([packet(20), packet(40), NextPacket::End]);
    assert_eq!((next(&mut events), next(&mut events)), (Some(20), Some(40)));
    assert_eq!([0, 1, 2].map(|lane| events.watermark_of(lane)), [Some(50), Some(40), None]);
    assert!(matches!(events.next_event(), Step::Wait), "the first lane is not at its end");
    busy.0.borrow_mut().streams[0].push_back(NextPacket::End);
    assert_eq!(next(&mut events), Some(50));
    assert!(matches!(events.next_event(), Step::End));
    assert_eq!(events.report().events, 5);
}

#[test]
fn losses_are_counted_as_packets_arrive() {
    let packet =
        |sequence| packet(0, sequence, NUMBERED, (sequence, sequence), &[(sequence as i64, 0, sequence)]);
    let source = Shared::stream(METADATA, [3, 4, 7, 8, 20].map(packet));
    let mut events = InOrder::new(vec![Box::new(source)], Window::default(), all_fields);
    while events.next_event().event().is_some() {}
    let report = events.report();
    // Those before the first are not lost: reading began after them.
    assert_eq!((report.events, report.lost_packets, report.traces[0].packets), (5, 2 + 11, 5));
    let gaps: Vec<_> = events.new_gaps().iter().map(|gap| (gap.trace, gap.since, gap.until)).collect();
    assert_eq!(gaps, [(0, 4, 7), (0, 8, 20)]);
    assert_eq!(events.new_gaps(), []);
}

#[test]
fn packets_that_arrive_with_growing_metadata_and_new_streams_come_in_order() {
    let arrived = |stream, sequence, id, span, events: &[EventKey]| {
        arriving::packet(packet(stream, sequence, id, span, events))
    };
    let (start, rest) = METADATA.split_at(300);
    let pieces = [
        Piece::Metadata(start.into()),
        Piece::Metadata(rest.into()),
        Piece::Stream,
        Piece::Stream,
        Piece::Next(0, arrived(0, 0, NUMBERED, (10, 20), &[(10, 0, 0), (15, 0, 1)])),
        // The second stream recorded nothing up to 12, so the event at 10 may go, and the one at 15 must wait.
        Piece::Next(1, NextPacket::Quiet(Some(12))),
        Piece::Metadata(LATE_CLASS.into()),
        Piece::Next(1, arrived(1, 0, NUMBERED + 1, (13, 40), &[(13, 1, 0), (30, 1, 1)])),
        Piece::Next(0, arrived(0, 1, NUMBERED, (22, 50), &[(22, 0, 2), (45, 0, 3)])),
        Piece::Next(0, NextPacket::End),
        Piece::Next(1, NextPacket::End),
    ];
    let shared = Shared::new(pieces);
    let mut classes = Vec::new();
    let (mut seen, mut waits, mut before_late) = (Vec::new(), 0, None);
    {
        let mut events = InOrder::new(vec![Box::new(shared.clone())], Window::default(), |class| {
            classes.push((class.index, class.name.clone()));
            all_fields(class)
        });
        loop {
            match events.next_event() {
                Step::Event(event) => {
                    seen.push((event.timestamp(), event.class().name.clone(), number(event.field("number"))));
                }
                Step::Wait => {
                    waits += 1;
                    let mut arriving = shared.0.borrow_mut();
                    if matches!(arriving.pieces.front(), Some(Piece::Metadata(text)) if text == LATE_CLASS.as_bytes())
                    {
                        before_late = Some(seen.len());
                    }
                    assert!(arriving.arrive(), "it waits for something");
                }
                Step::End => break,
            }
        }
        let report = events.report();
        assert_eq!((report.events, report.damage.len()), (6, 0), "{:?}", report.damage);
    }
    let expected = [
        (10, "numbered", 0),
        (13, "late", 0),
        (15, "numbered", 1),
        (22, "numbered", 2),
        (30, "late", 1),
        (45, "numbered", 3),
    ];
    assert_eq!(seen, expected.map(|(time, name, number)| (time, name.to_owned(), number)));
    assert_eq!(before_late, Some(1), "the event at 10 did not wait, and the one at 15 did");
    assert!(waits >= 8, "{waits}");
    let last = |name: &str| classes.iter().rfind(|(_, known)| known == name).map(|(index, _)| *index);
    assert_eq!((last("numbered"), last("late")), (Some(3), Some(4)), "known classes keep their numbers");
}
