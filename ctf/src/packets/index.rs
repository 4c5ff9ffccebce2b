//! Index files: where the packets of a stream file are, and when.
//!
//! LTTng writes `index/<stream file>.idx` next to the stream files, in big-endian order:
//!
//! ```text
//! header   magic u32, major u32, minor u32, entry length u32
//! entry    offset, packet_size, content_size, timestamp_begin, timestamp_end, events_discarded, stream_id:
//!          u64 each; since 1.1 also stream_instance_id, packet_seq_num. Sizes are in bits.
//! ```
//!
//! An index is a hint: it helps to find the next packet after a damaged one. Only a packet's header says what it is.

/// What index files begin with.
const MAGIC: u32 = 0xC1F1_DCC1;

/// The least length of an entry: version 1.0's.
const MIN_ENTRY: usize = 7 * 8;

/// No entry is longer than this.
const MAX_ENTRY: usize = 4096;

/// One packet, as the index has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexEntry {
    /// Where the packet begins in the stream file, in bytes.
    pub offset: u64,
    /// How long it is, in bytes.
    pub packet_size: u64,
    /// How much of it is content, in bits.
    pub content_size: u64,
    /// The clock's count at its beginning.
    pub begin: u64,
    /// The clock's count at its end.
    pub end: u64,
    /// The number of events that had been discarded at its end.
    pub discarded: u64,
    /// The id of its stream class.
    pub stream_id: u64,
    /// Which stream of that class, and the packet's number in it.
    pub instance_and_sequence: Option<(u64, u64)>,
}

/// Reads an index file; `None` if it is not one, or if its packets do not follow each other in the file.
pub fn read(bytes: &[u8]) -> Option<Vec<IndexEntry>> {
    let (header, body) = bytes.split_first_chunk::<16>()?;
    let word = |at: usize| u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    let length = word(12) as usize;
    if word(0) != MAGIC || word(4) != 1 || !(MIN_ENTRY..=MAX_ENTRY).contains(&length) {
        return None;
    }
    let entries: Vec<IndexEntry> = body.chunks_exact(length).map(entry).collect();
    let follow = entries
        .windows(2)
        .all(|pair| pair[0].offset.checked_add(pair[0].packet_size) == Some(pair[1].offset));
    follow.then_some(entries)
}

fn entry(bytes: &[u8]) -> IndexEntry {
    let number = |bytes: &[u8]| u64::from_be_bytes(bytes.try_into().unwrap_or_default());
    let mut numbers = bytes.chunks_exact(8).map(number);
    let mut next = || numbers.next().unwrap_or(0);
    IndexEntry {
        offset: next(),
        packet_size: next() / 8,
        content_size: next(),
        begin: next(),
        end: next(),
        discarded: next(),
        stream_id: next(),
        instance_and_sequence: (bytes.len() >= MIN_ENTRY + 16).then(|| (next(), next())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(entries: &[[u64; 9]]) -> Vec<u8> {
        let words = [MAGIC, 1, 1, 72].into_iter().flat_map(u32::to_be_bytes);
        words.chain(entries.iter().flatten().flat_map(|number| number.to_be_bytes())).collect()
    }

    #[test]
    fn entries_are_read_in_big_endian_order() {
        let entries =
            read(&file(&[[0, 800, 700, 3, 4, 5, 6, 7, 8], [100, 80, 80, 0, 0, 0, 0, 0, 9]])).unwrap();
        let first = IndexEntry {
            offset: 0,
            packet_size: 100,
            content_size: 700,
            begin: 3,
            end: 4,
            discarded: 5,
            stream_id: 6,
            instance_and_sequence: Some((7, 8)),
        };
        assert_eq!(entries[0], first);
        assert_eq!(entries[1].instance_and_sequence, Some((0, 9)));
    }

    #[test]
    fn what_is_not_an_index_is_ignored() {
        let good = file(&[[0; 9]]);
        for at in [0, 7, 14] {
            let mut bad = good.clone();
            bad[at] ^= 0xFF;
            assert_eq!(read(&bad), None, "byte {at}");
        }
        assert_eq!(read(&good[..15]), None);
        assert_eq!(read(&file(&[[0, 800, 0, 0, 0, 0, 0, 0, 0], [99, 8, 0, 0, 0, 0, 0, 0, 0]])), None);
    }
}
