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

/// Reads an index file: where its packets begin in the stream file, in bytes. `None` if it is not one, or if its packets do
/// not follow each other in the file.
pub fn read(bytes: &[u8]) -> Option<Vec<u64>> {
    let (header, body) = bytes.split_first_chunk::<16>()?;
    let word = |at: usize| u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    let length = word(12) as usize;
    if word(0) != MAGIC || word(4) != 1 || !(MIN_ENTRY..=MAX_ENTRY).contains(&length) {
        return None;
    }
    let number = |bytes: &[u8]| u64::from_be_bytes(bytes.try_into().unwrap_or_default());
    let entries = body.chunks_exact(length).map(|entry| (number(&entry[..8]), number(&entry[8..16]) / 8));
    let entries: Vec<(u64, u64)> = entries.collect();
    let follow = entries.windows(2).all(|pair| pair[0].0.checked_add(pair[0].1) == Some(pair[1].0));
    follow.then(|| entries.into_iter().map(|(offset, _)| offset).collect())
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
        let entries = file(&[[0, 800, 700, 3, 4, 5, 6, 7, 8], [100, 80, 80, 0, 0, 0, 0, 0, 9]]);
        assert_eq!(read(&entries), Some(vec![0, 100]));
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
