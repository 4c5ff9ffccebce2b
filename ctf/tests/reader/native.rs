//! What the reader promises in addition to reading what Babeltrace reads.

use std::fs;
use std::sync::Arc;

use ctf_reader::{Discovery, Reader, Report, TraceFiles, Window};
use fastrand::Rng;

use crate::child::peak_memory_of;
use crate::support::{Recording, assert_same, read_all, read_both_ways};
use lttng_testing::unpack;

#[test]
fn number_of_threads_does_not_change_what_is_read() {
    let recorded = Recording::copy();
    let open = || Reader::open(&[recorded.folder()]).unwrap();
    let (events, report) = read_all(&open().threads(1), Window::default());
    for threads in [2, 7] {
        let (others, other_report) = read_all(&open().threads(threads), Window::default());
        assert_same(&others, &events);
        assert_eq!(other_report, report);
    }
}

#[test]
fn span_is_that_of_the_events() {
    let recorded = Recording::copy();
    let reader = Reader::open(&[recorded.folder()]).unwrap();
    let span = reader.span();
    assert_eq!(span, read_all(&reader, Window::default()).1.span);
}

/// Flips some bits, and sometimes cuts off the end.
fn damaged(bytes: &[u8], random: &mut Rng) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if random.u64(..3) == 0 {
        bytes.truncate(random.usize(..bytes.len() + 1));
    }
    for _ in 0..random.u64(..8) {
        if !bytes.is_empty() {
            let at = random.usize(..bytes.len());
            bytes[at] ^= 1 << random.u64(..8);
        }
    }
    bytes
}

/// Reads a trace in memory, if its metadata leaves anything to read.
fn read_bytes(metadata: &[u8], stream: &[u8]) -> Option<Report> {
    let reader = Reader::from_bytes(metadata, vec![("stream".into(), Arc::from(stream))]).ok()?;
    let (_, report, _) = read_both_ways(&reader, Window::default());
    Some(report)
}

#[test]
fn lists_of_nothing_are_limited_over_all_events() {
    let metadata = b"/* CTF 1.8 */
        trace { major = 1; minor = 8; byte_order = le; };
        typealias integer { size = 8; } := u8;
        typealias integer { size = 32; } := u32;
        event { name = \"e\"; fields := struct { u32 n; u8 none; u8 x[n][none]; }; };";
    let event = |elements: u32| [elements.to_le_bytes().as_slice(), &[0]].concat();
    let report = read_bytes(metadata, &[event(40_000), event(40_000), event(0)].concat()).unwrap();
    assert_eq!((report.events, report.damage.len()), (1, 1), "{:?}", report.damage);
}

#[test]
fn fuzz_corpus_is_survived() {
    let inputs = |target: &str| {
        let archive = format!("{}/fuzz/corpus/{target}.tar.xz", env!("CARGO_MANIFEST_DIR"));
        let unpacked = unpack(archive.as_ref());
        let entries = unpacked.path().join(target).read_dir().unwrap();
        entries.map(|entry| fs::read(entry.unwrap().path()).unwrap()).collect::<Vec<_>>()
    };
    let metadata = inputs("metadata");
    assert!(metadata.len() > 100);
    let understood = metadata.iter().filter(|metadata| read_bytes(metadata, &[]).is_some());
    assert!(understood.count() > 10);
    // Metadata up to the first NUL, and a stream file after it.
    let trace = |input: &[u8]| {
        let end = input.iter().position(|&byte| byte == 0).unwrap_or(input.len());
        let stream = Arc::from(input.get(end + 1..).unwrap_or_default());
        TraceFiles::from_bytes(input[..end].to_vec(), vec![("stream".into(), stream)])
    };
    // Two of them: the first two bytes say how long the first one is.
    let two_traces = |input: &[u8]| {
        let (length, rest) = input.split_first_chunk()?;
        let (one, other) = rest.split_at_checked(u16::from_le_bytes(*length).into())?;
        Some(vec![trace(one), trace(other)])
    };
    for (target, least) in [("packets", 300), ("several", 100), ("ordered", 100)] {
        let inputs = inputs(target);
        assert!(inputs.len() > least, "{} inputs for {target}", inputs.len());
        let read = inputs.iter().filter_map(|input| {
            let traces = if target == "packets" { vec![trace(input)] } else { two_traces(input)? };
            let reader = Reader::open_found(Discovery { traces, damage: Vec::new() }).ok()?;
            Some(read_both_ways(&reader, Window::default()).1)
        });
        assert!(read.filter(|report| report.events > 0).count() > 10, "{target}");
    }
}

#[test]
#[ignore = "make check: damages a trace thousands of times"]
fn thousands_of_damaged_traces_are_survived() {
    let peak = peak_memory_of("native::thousands_of_damaged_traces_are_survived", || {
        let recorded = Recording::copy();
        let metadata = fs::read(recorded.trace().join("metadata")).unwrap();
        let mut stream = fs::read(recorded.stream()).unwrap();
        stream.truncate(3 * 4096);
        let sound = read_bytes(&metadata, &stream).expect("it is sound");
        assert_eq!(sound.damage, []);
        let mut random = Rng::with_seed(1);
        let (mut noticed, mut unreadable) = (0, 0);
        for _ in 0..1000 {
            let report =
                read_bytes(&metadata, &damaged(&stream, &mut random)).expect("the metadata is sound");
            noticed += usize::from(!report.damage.is_empty());
            // No event is smaller than its header.
            assert!(report.events <= stream.len() as u64 / 6);
        }
        for _ in 0..1000 {
            match read_bytes(&damaged(&metadata, &mut random), &stream) {
                Some(report) => noticed += usize::from(!report.damage.is_empty()),
                None => unreadable += 1,
            }
        }
        assert!(noticed > 200 && unreadable > 5, "{noticed} noticed, {unreadable} unreadable");
    });
    assert!(peak < 100 << 20, "{peak} bytes of memory");
}
