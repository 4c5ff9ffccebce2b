//! Damaged metadata is used as far as it can be parsed, quickly, and large metadata is read whole.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use lttng_testing::must_end;

use super::Metadata;
use crate::{Collect, EventClass, Events, Progress, Reader, Wanted, Window, all_fields};

/// As lttng-sessiond writes it for three events of LTTng-UST, with fewer types and fields.
const TEXT: &str = include_str!("../../tests/data/lttng-ust.tsdl");

/// The same in CTF 2, without what is not needed.
const JSON: &str = concat!(
    "\u{1e}{\"type\":\"preamble\",\"version\":2}\n",
    "\u{1e}{\"type\":\"field-class-alias\",\"name\":\"u32\",\"field-class\":",
    "{\"type\":\"fixed-length-unsigned-integer\",\"length\":32,\"byte-order\":\"little-endian\"}}\n",
    "\u{1e}{\"type\":\"trace-class\",\"packet-header-field-class\":{\"type\":\"structure\",",
    "\"member-classes\":[{\"name\":\"a\",\"field-class\":\"u32\"}]}}\n",
    "\u{1e}{\"type\":\"data-stream-class\",\"id\":0}\n",
    "\u{1e}{\"type\":\"event-record-class\",\"id\":0,\"name\":\"first\"}\n",
    "\u{1e}{\"type\":\"event-record-class\",\"id\":1,\"name\":\"second\",\"payload-field-class\":",
    "{\"type\":\"structure\",\"member-classes\":[{\"name\":\"n\",\"field-class\":\"u32\"},{\"name\":\"s\",",
    "\"field-class\":{\"type\":\"dynamic-length-string\",\"length-field-location\":{\"path\":[\"n\"]}}}]}}\n",
);

fn read(bytes: &[u8]) -> (Metadata, Vec<String>) {
    let (metadata, problems) = super::read(bytes);
    (metadata, problems.iter().map(ToString::to_string).collect())
}

fn events(metadata: &Metadata) -> Vec<&str> {
    metadata.streams.iter().flat_map(|stream| &stream.events).map(|event| event.name.as_str()).collect()
}

/// Where in the text the blocks with a keyword are, up to their closing brace.
fn blocks(keyword: &str) -> Vec<Range<usize>> {
    let begins = TEXT.match_indices(keyword).map(|(begin, _)| begin);
    let begins = begins.filter(|&begin| TEXT[..begin].ends_with("\n\n") && TEXT[begin..].contains('{'));
    begins.map(|begin| begin..begin + TEXT[begin..].find("\n}").unwrap() + 2).collect()
}

/// A metadata file of packets with this much text in each.
fn packets(text: &str, size: usize) -> Vec<Vec<u8>> {
    let text = text.as_bytes().chunks(size);
    text.map(|text| super::packets::tests::metadata_packet(std::str::from_utf8(text).unwrap(), 3)).collect()
}

/// All bytes with one changed: each of its bits flipped, and set to what means something.
fn changes(bytes: &[u8]) -> impl Iterator<Item = (usize, Vec<u8>)> {
    bytes.iter().enumerate().flat_map(move |(at, &byte)| {
        let flipped = (0..8).map(|bit| byte ^ (1 << bit));
        let values: BTreeSet<u8> = flipped.chain([0x00, 0xFF, b'{', b'}', b'"']).collect();
        values.into_iter().filter(move |&value| value != byte).map(move |value| {
            let mut changed = bytes.to_vec();
            changed[at] = value;
            (at, changed)
        })
    })
}

#[test]
fn every_prefix_gives_what_is_whole_and_names_the_rest_once() {
    let (whole, problems) = read(TEXT.as_bytes());
    assert_eq!((events(&whole).len(), problems.len()), (3, 0), "{problems:?}");
    let (streams, events_at) = (blocks("stream {"), blocks("event {"));
    assert_eq!((streams.len(), events_at.len()), (1, 3));
    for end in 0..TEXT.len() {
        let (cut, problems) = read(&TEXT.as_bytes()[..end]);
        let is_whole = |block: &&Range<usize>| block.end <= end;
        assert_eq!(cut.streams.len(), streams.iter().filter(is_whole).count(), "{end}: {problems:?}");
        let names = events(&cut);
        assert_eq!(names, events(&whole)[..events_at.iter().filter(is_whole).count()], "{end}");
        let is_between = blocks_end_at(end);
        assert_eq!(problems.len(), usize::from(!is_between), "{end}: {problems:?}");
    }
}

/// Whether the text up to here consists of whole statements.
fn blocks_end_at(end: usize) -> bool {
    let text = TEXT[..end].trim_end();
    let before = text.trim_end_matches(';');
    let depth = |text: &str| text.matches('{').count() - text.matches('}').count();
    let is_block = before.ends_with("\n}") && !before.ends_with("\n} align(8)");
    let last = before.rfind("\n\n").map_or(before, |last| &before[last + 2..]);
    let is_alias = last.starts_with("typealias") || last.starts_with("struct");
    match is_alias {
        true => text.ends_with(';') && depth(text) == 0,
        false => text.is_empty() || text.ends_with("*/") || (is_block && depth(text) == 0),
    }
}

#[test]
fn every_prefix_of_a_file_of_packets_gives_what_its_text_gives() {
    let packets = packets(TEXT, 300);
    let file = packets.concat();
    let (mut begin, mut text) = (0, 0);
    for packet in &packets {
        let content = packet.len() - 40;
        for end in 0..packet.len() {
            let (cut, problems) = read(&file[..begin + end]);
            let (plain, _) = read(&TEXT.as_bytes()[..text + end.saturating_sub(37).min(content)]);
            assert_eq!(events(&cut), events(&plain), "{begin} + {end}: {problems:?}");
            // Up to its fourth byte nothing shows that the file consists of packets.
            assert!(problems.len() == 1 || end == 0 || begin + end < 4, "{begin} + {end}: {problems:?}");
        }
        begin += packet.len();
        text += content;
    }
}

#[test]
fn one_wrong_byte_in_an_event_loses_no_other() {
    let blocks = blocks("event {");
    for (at, changed) in changes(TEXT.as_bytes()) {
        let Some(hit) = blocks.iter().position(|block| block.contains(&at)) else {
            // One change of each other byte, which must only be survived.
            if changed[at] ^ TEXT.as_bytes()[at] == 1 << (at % 8) {
                read(&changed);
            }
            continue;
        };
        let (metadata, problems) = read(&changed);
        let names = ["valkey_server:command", "valkey_commands:command_call", "valkey_rdb:fork"];
        let lost = (0..3).filter(|&event| !events(&metadata).contains(&names[event]));
        // Its id may become another event's, which then loses it.
        let lost: Vec<_> = lost.filter(|&event| event != hit).collect();
        let is_id = problems.iter().any(|problem| problem.contains("duplicate event id"));
        assert!(lost.is_empty() || is_id, "{at}: {:?}: {problems:?}", char::from(changed[at]));
    }
}

#[test]
fn one_wrong_byte_in_a_file_of_packets_is_survived() {
    let packets = packets(TEXT, 3000);
    let file = packets.concat();
    let headers = [0..37, packets[0].len()..packets[0].len() + 37];
    for (at, changed) in changes(&file).filter(|(at, _)| headers.iter().any(|header| header.contains(at))) {
        let (metadata, problems) = read(&changed);
        let is_sizes = headers.iter().any(|header| (24..35).contains(&(at.wrapping_sub(header.start))));
        assert!(is_sizes || events(&metadata).len() == 3, "{at}: {problems:?}");
        let _ = Reader::from_bytes(&changed, Vec::new());
    }
}

#[test]
fn every_prefix_and_every_wrong_byte_of_json_is_survived() {
    let (whole, problems) = read(JSON.as_bytes());
    assert_eq!((events(&whole), problems.len()), (vec!["first", "second"], 0), "{problems:?}");
    for end in 0..JSON.len() {
        let (cut, problems) = read(&JSON.as_bytes()[..end]);
        let is_whole = |name: &&str| JSON[..end].contains(&format!("{name}\"}}")) || end + 1 == JSON.len();
        assert!(
            ["first", "second"].iter().filter(|name| is_whole(name)).eq(&events(&cut)),
            "{end}: {problems:?}"
        );
        assert!(problems.len() <= 1, "{end}: {problems:?}");
    }
    let second = JSON.rfind('\u{1e}').unwrap();
    for (at, changed) in changes(JSON.as_bytes()) {
        let (metadata, problems) = read(&changed);
        assert!(at < second || events(&metadata).contains(&"first"), "{at}: {problems:?}");
    }
}

/// Wants all fields of all events.
struct All;

impl Collect for All {
    type Stop = Infallible;

    fn want(&mut self, class: &Arc<EventClass>) -> Option<Wanted> {
        all_fields(class)
    }

    fn events(&mut self, _: &Events<'_>) -> ControlFlow<Infallible> {
        ControlFlow::Continue(())
    }

    fn split(&self) -> All {
        All
    }

    fn absorb(&mut self, _: All) {}
}

#[test]
fn many_event_classes_are_all_read() {
    let event = |id: usize| {
        let fields = "struct { integer { size = 32; } n; integer { size = 8; } a[n]; }";
        format!("event {{ name = \"e{id}\"; id = {id}; stream_id = 0; fields := {fields}; }};\n")
    };
    let first = TEXT.find("event {").unwrap();
    let text: String = [TEXT[..first].to_owned()].into_iter().chain((0..50_000).map(event)).collect();
    // Quadratic time would not end.
    let (metadata, problems) = must_end("many event classes", move || super::read(text.as_bytes()));
    assert_eq!((events(&metadata).len(), problems), (50_000, vec![]));
    // Each event has a length, and they share its slot.
    assert!(metadata.slots <= 3, "{}", metadata.slots);
}

#[test]
fn model_of_an_event_is_read_in_both_languages() {
    let tsdl = "/* CTF 1.8 */ event { name = \"e\"; model.emf.uri = \"meaning:1;duration=took\"; };";
    let json = JSON.replace(
        "\"name\":\"first\"",
        "\"attributes\":{\"lttng.org,2009\":{\"emf-uri\":\"meaning:1;duration=took\"}}",
    );
    for text in [tsdl, &json] {
        let reader = Reader::from_bytes(text.as_bytes(), Vec::new()).unwrap();
        let uris: Vec<_> = reader.classes().map(|class| class.model_uri.as_deref()).collect();
        assert_eq!(uris[0], Some("meaning:1;duration=took"));
        assert!(uris[1..].iter().all(Option::is_none));
    }
}

#[test]
fn many_fields_of_one_event_are_all_read() {
    let field = |i: usize| format!("integer {{ size = 8; }} n{i}; integer {{ size = 8; }} a{i}[n{i}];");
    let fields: String = (0..50_000).map(field).collect();
    let text = format!("/* CTF 1.8 */ event {{ name = \"e\"; fields := struct {{ {fields} }}; }};");
    must_end("many fields", move || {
        let reader = Reader::from_bytes(text.as_bytes(), Vec::new()).unwrap();
        assert_eq!(reader.classes().next().unwrap().fields.len(), 100_000);
        reader.read(Window::default(), All, &Progress::default());
    });
}

#[test]
fn what_cannot_be_parsed_takes_linear_time() {
    for part in
        ["/*", "\"\\", "event {", "event { x ", "{", "}", "x /*", "unsigned ", "\ntypealias struct {", "'\\"]
    {
        // So much that quadratic time would not end.
        let text = part.repeat(1_000_000 / part.len());
        must_end(part, move || _ = super::read(text.as_bytes()));
    }
}
