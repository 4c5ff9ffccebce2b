//! What the reader promises besides reading what Babeltrace reads.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use ctf_reader::{Reader, Report, Window};

use crate::child::peak_memory_of;
use crate::support::{Recording, SharedTrace, assert_same, read_all, read_both_ways};

#[test]
fn number_of_threads_does_not_change_what_is_read() {
    let shared = SharedTrace::unpack();
    let open = || Reader::open(&[shared.folder()]).unwrap();
    let (events, report) = read_all(&open().threads(1), Window::default());
    for threads in [2, 7] {
        let (others, other_report) = read_all(&open().threads(threads), Window::default());
        assert_same(&others, &events);
        assert_eq!(other_report, report);
    }
}

#[test]
fn span_is_that_of_the_events() {
    let shared = SharedTrace::unpack();
    let reader = Reader::open(&[shared.folder()]).unwrap();
    let span = reader.span();
    assert_eq!(span, read_all(&reader, Window::default()).1.span);
}

/// Numbers as good as random, and the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }

    /// Flips some bits, and sometimes cuts off the end.
    fn damage(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        if self.below(3) == 0 {
            bytes.truncate(self.below(bytes.len() + 1));
        }
        for _ in 0..self.below(8) {
            if !bytes.is_empty() {
                let at = self.below(bytes.len());
                bytes[at] ^= 1 << self.below(8);
            }
        }
        bytes
    }
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
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
        let entries = folder.read_dir().unwrap().map(|entry| fs::read(entry.unwrap().path()).unwrap());
        entries.collect::<Vec<_>>()
    };
    let (metadata, packets) = (inputs("metadata"), inputs("packets"));
    assert!(metadata.len() > 100 && packets.len() > 100);
    let understood = metadata.iter().filter(|metadata| read_bytes(metadata, &[]).is_some());
    assert!(understood.count() > 10);
    let read = packets.iter().filter_map(|input| {
        let end = input.iter().position(|&byte| byte == 0).unwrap_or(input.len());
        read_bytes(&input[..end], input.get(end + 1..).unwrap_or_default())
    });
    assert!(read.filter(|report| report.events > 0).count() > 10);
}

#[test]
fn thousands_of_damaged_traces_are_survived() {
    let peak = peak_memory_of("native::thousands_of_damaged_traces_are_survived", || {
        let recorded = Recording::copy();
        let metadata = fs::read(recorded.trace().join("metadata")).unwrap();
        let mut stream = fs::read(recorded.stream()).unwrap();
        stream.truncate(3 * 4096);
        let sound = read_bytes(&metadata, &stream).expect("it is sound");
        assert_eq!(sound.damage, []);
        let mut random = Random(0x9E37_79B9_7F4A_7C15);
        let (mut damaged, mut unreadable) = (0, 0);
        for _ in 0..1000 {
            let report = read_bytes(&metadata, &random.damage(&stream)).expect("the metadata is sound");
            damaged += usize::from(!report.damage.is_empty());
            // No event is smaller than its header.
            assert!(report.events <= stream.len() as u64 / 6);
        }
        for _ in 0..1000 {
            match read_bytes(&random.damage(&metadata), &stream) {
                Some(report) => damaged += usize::from(!report.damage.is_empty()),
                None => unreadable += 1,
            }
        }
        assert!(damaged > 200 && unreadable > 5, "{damaged} damaged, {unreadable} unreadable");
    });
    assert!(peak < 100 << 20, "{peak} bytes of memory");
}
