//! Metadata that arrives piece by piece: the same classes as at once, in linear time, and what is wrong is reported.

use std::cell::RefCell;
use std::sync::Arc;

use ctf_reader::{EventClass, FieldClasses, InOrder, Reader, Step, Window, all_fields};
use fastrand::Rng;

use crate::arriving::{Piece, Shared};
use crate::child::{ALLOCATOR, peak_memory_of};

const TEXT: &str = include_str!("../data/lttng-ust.tsdl");

type ClassFacts = (usize, String, Option<i64>, FieldClasses);

fn facts(class: &EventClass) -> ClassFacts {
    (class.index, class.name.clone(), class.log_level, class.fields.clone())
}

/// The classes that a merge asks about, without those that are asked about again, and the damage in words.
fn arrive(pieces: impl IntoIterator<Item = Vec<u8>>) -> (Vec<ClassFacts>, Vec<String>, usize) {
    let classes: RefCell<Vec<ClassFacts>> = RefCell::default();
    let asked = RefCell::new(0);
    let want = |class: &Arc<EventClass>| {
        *asked.borrow_mut() += 1;
        let mut classes = classes.borrow_mut();
        match classes.get(class.index) {
            Some(known) => assert_eq!(*known, facts(class)),
            None => classes.push(facts(class)),
        }
        all_fields(class)
    };
    let source = Shared::new(pieces.into_iter().map(Piece::Metadata));
    let mut events = InOrder::new(vec![Box::new(source.clone())], Window::default(), want);
    while let Step::Wait = events.next_event() {
        source.0.borrow_mut().arrive();
    }
    let damage = events.report().damage.iter().map(ToString::to_string).collect();
    drop(events);
    (classes.into_inner(), damage, asked.into_inner())
}

/// The classes and the damage of metadata that is there at once.
fn at_once(metadata: &[u8]) -> (Vec<ClassFacts>, Vec<String>) {
    let reader = Reader::from_bytes(metadata, Vec::new()).unwrap();
    let damage = reader.in_order(Window::default(), all_fields).report().damage;
    let damage = damage.iter().map(|damage| format!("metadata: {}", damage.reason)).collect();
    (reader.classes().map(|class| facts(class)).collect(), damage)
}

/// An event block.
fn event(id: usize) -> String {
    let fields = "struct { integer { size = 32; align = 8; } _n; integer { size = 8; align = 8; } _a[_n]; string _s; }";
    format!("event {{ name = \"e{id}\"; id = {id}; stream_id = 0; fields := {fields}; }};\n")
}

/// A metadata file of packets with this much text in each, as LTTng writes them.
fn packets(text: &str, size: usize) -> Vec<Vec<u8>> {
    let packet = |content: &[u8]| {
        let bits = |bytes: usize| u32::try_from(8 * bytes).unwrap().to_le_bytes();
        let mut packet = 0x75D1_1D57_u32.to_le_bytes().to_vec();
        packet.extend([7; 20]);
        packet.extend(bits(37 + content.len()));
        packet.extend(bits(40 + content.len()));
        packet.extend([0, 0, 0, 1, 8]);
        packet.extend(content);
        packet.extend(b"}; ");
        packet
    };
    text.as_bytes().chunks(size).map(packet).collect()
}

/// The bytes in pieces, cut at random.
fn cut(bytes: &[u8], random: &mut Rng) -> Vec<Vec<u8>> {
    let mut rest = bytes;
    let mut pieces = Vec::new();
    let longest = 1 + random.usize(..2000);
    while !rest.is_empty() {
        let (piece, after) = rest.split_at((1 + random.usize(..longest)).min(rest.len()));
        pieces.push(piece.to_vec());
        rest = after;
    }
    pieces
}

#[test]
fn metadata_in_pieces_gives_the_classes_that_it_gives_at_once() {
    let more: String = (3..40).map(event).collect();
    // A type, a stream and events of it, an event that refers to its stream, one out of order, and a broken one.
    let others = "typealias integer { size = 16; } := short_one;
        event { name = \"t\"; id = 50; stream_id = 0; fields := struct { short_one _x; }; };
        stream { id = 1; event.header := struct { integer { size = 8; } id; }; };
        event { name = \"u\"; id = 0; stream_id = 1; fields := struct { integer { size = 8; } _x; }; };
        event { name = \"v\"; id = 60; stream_id = 0; fields := struct { integer { size = 8; } _x[stream.event.context._vpid]; }; };
        event { name = \"w\"; id = 45; stream_id = 0; };
        event { name = \"broken\"; id = ; stream_id = 0; };
        event { name = \"x\"; id = 61; stream_id = 0; };
    ";
    for (seed, text) in (1..).zip([TEXT.to_owned(), format!("{TEXT}{more}"), format!("{TEXT}{more}{others}")])
    {
        let (mut expected, damage) = at_once(text.as_bytes());
        assert!(expected.len() >= 3);
        expected.sort_by(|a, b| a.1.cmp(&b.1));
        for round in 0..30 {
            let mut random = Rng::with_seed(100 * seed + round);
            let packets = packets(&text, 1 + random.usize(..1000)).concat();
            for bytes in [text.as_bytes(), &packets] {
                let (mut classes, found, _) = arrive(cut(bytes, &mut random));
                // Numbers are given in the order in which classes come.
                let indexes: Vec<usize> = classes.iter().map(|class| class.0).collect();
                assert_eq!(indexes, (0..classes.len()).collect::<Vec<_>>(), "seed {seed}, round {round}");
                classes.sort_by(|a, b| a.1.cmp(&b.1));
                let without_index = |classes: &[ClassFacts]| -> Vec<_> {
                    classes.iter().map(|class| (class.1.clone(), class.2, class.3.clone())).collect()
                };
                assert_eq!(without_index(&classes), without_index(&expected), "seed {seed}, round {round}");
                assert_eq!(found, damage, "seed {seed}, round {round}");
            }
        }
    }
}

#[test]
fn what_is_wrong_in_metadata_that_arrives_is_reported_once() {
    let pieces = [TEXT, "event { name = \"a\"; id = ; };\n", &event(7), "event { name = \"b\"; nonsense"];
    let (classes, damage, _) = arrive(pieces.map(|piece| piece.as_bytes().to_vec()));
    assert_eq!(classes.len(), 4);
    let mut cut = packets(TEXT, 1000);
    let at: usize = cut[..cut.len() - 1].iter().map(Vec::len).sum();
    cut.last_mut().unwrap().pop();
    let (_, cut, _) = arrive(cut);
    assert_eq!(
        cut[0],
        format!("metadata: metadata packet at byte {at}: the metadata ends within this packet")
    );
    assert_eq!(cut.len(), 1);
    let lines = TEXT.lines().count();
    assert_eq!(
        damage,
        [
            format!("metadata: line {}: event `a`: expected a number, found `;`", lines + 1),
            format!("metadata: line {}: event `b`: expected `;`, found the end of the text", lines + 3),
        ]
    );
}

#[test]
fn event_classes_that_arrive_one_by_one_take_linear_time() {
    peak_memory_of("growing::event_classes_that_arrive_one_by_one_take_linear_time", || {
        let grow = |count: usize| {
            let (classes, asked, allocated) = arrive_after(TEXT, (3..3 + count).map(event));
            assert_eq!(classes, count + 3);
            // Each class is asked about once, and the first ones where the merge gets its source.
            assert!(asked <= count + 6, "{asked}");
            allocated
        };
        let [few, many] = [grow(500), grow(2000)];
        assert!(many < 5 * few, "{few} bytes for 500 classes, {many} for four times as many");
    });
}

/// The number of classes, how often one was asked about, and the bytes that were allocated, where pieces follow a text.
fn arrive_after(text: &str, pieces: impl Iterator<Item = String>) -> (usize, usize, usize) {
    let pieces: Vec<_> = [text.to_owned()].into_iter().chain(pieces).map(String::into_bytes).collect();
    let ((classes, damage, asked), allocated) = ALLOCATOR.allocated_by(|| arrive(pieces));
    assert_eq!(damage, [""; 0]);
    (classes.len(), asked, allocated)
}

#[test]
fn streams_that_arrive_one_by_one_without_end_take_bounded_time() {
    peak_memory_of("growing::streams_that_arrive_one_by_one_without_end_take_bounded_time", || {
        let stream = |id: usize| {
            format!("stream {{ id = {id}; }}; event {{ name = \"e\"; id = 0; stream_id = {id}; }};\n")
        };
        let grow = |count: usize| {
            let (classes, _, allocated) =
                arrive_after("/* CTF 1.8 */ trace { major = 1; };\n", (0..count).map(stream));
            assert_eq!(classes, count);
            allocated
        };
        // More than are read again at once.
        let [few, many] = [grow(500), grow(2000)];
        assert!(many < 5 * few, "{few} bytes for 500 streams, {many} for four times as many");
    });
}
