//! Metadata packets to text.
//!
//! LTTng writes metadata as packets whose payloads, joined, are the text. A token may begin in one packet and
//! end in the next, and what follows the content of a packet is stale.
//!
//! ```text
//! 0      4        20        24            28           32           33          34               35 36 37
//! magic  uuid[16] checksum  content_size  packet_size  compression  encryption  checksum_scheme  ma mi text…
//!                           └──── in bits ──────────┘
//! ```

use std::borrow::Cow;

const MAGIC: u32 = 0x75D1_1D57;
const HEADER: usize = 37;

/// The text in a metadata file, and what is wrong with the file behind that text.
pub fn text(bytes: &[u8]) -> (Cow<'_, str>, Option<String>) {
    let read: fn([u8; 4]) -> u32 = match bytes.first_chunk() {
        Some(&magic) if u32::from_le_bytes(magic) == MAGIC => u32::from_le_bytes,
        Some(&magic) if u32::from_be_bytes(magic) == MAGIC => u32::from_be_bytes,
        _ => return (String::from_utf8_lossy(bytes), None),
    };
    let mut text = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    let mut problem = None;
    while problem.is_none() && !rest.is_empty() {
        let at = bytes.len() - rest.len();
        let found = packet(rest, read, &mut text);
        problem = found.err().map(|reason| format!("metadata packet at byte {at}: {reason}"));
        rest = found.unwrap_or_default();
    }
    (Cow::Owned(String::from_utf8_lossy(&text).into_owned()), problem)
}

/// Takes the content of the first packet into the text, as far as it is there, and returns what follows.
fn packet<'a>(
    bytes: &'a [u8],
    read: fn([u8; 4]) -> u32,
    text: &mut Vec<u8>,
) -> Result<&'a [u8], &'static str> {
    let header = bytes.first_chunk::<HEADER>().ok_or("the file ends in the header")?;
    let number = |at: usize| read([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    let content_size = number(24) as usize / 8;
    let packet_size = number(28) as usize / 8;
    if number(0) != MAGIC {
        return Err("no magic number");
    }
    if header[32..35] != [0; 3] {
        return Err("compressed, encrypted or check-summed metadata is not supported");
    }
    if content_size < HEADER || content_size > packet_size {
        return Err("its sizes contradict each other");
    }
    text.extend_from_slice(&bytes[HEADER..content_size.min(bytes.len())]);
    bytes.get(packet_size..).ok_or("the file ends before the packet does")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata_packet(text: &str, padding: usize) -> Vec<u8> {
        let mut packet = MAGIC.to_be_bytes().to_vec();
        packet.extend([7; 20]);
        let content = HEADER + text.len();
        packet.extend((content as u32 * 8).to_be_bytes());
        packet.extend(((content + padding) as u32 * 8).to_be_bytes());
        packet.extend([0, 0, 0, 1, 8]);
        packet.extend(text.bytes().chain(std::iter::repeat_n(b'?', padding)));
        packet
    }

    #[test]
    fn contents_are_joined_without_the_padding() {
        let file = [metadata_packet("tra", 5), metadata_packet("ce {};", 0)].concat();
        assert_eq!(text(&file), ("trace {};".into(), None));
    }

    #[test]
    fn a_file_that_ends_early_gives_what_it_has() {
        let file = [metadata_packet("tra", 5), metadata_packet("ce {};", 9)].concat();
        let (found, problem) = text(&file[..file.len() - 1]);
        assert_eq!(found, "trace {};");
        assert_eq!(problem.unwrap(), "metadata packet at byte 45: the file ends before the packet does");
        let (found, problem) = text(&file[..50]);
        assert_eq!((&*found, problem.is_some()), ("tra", true));
    }

    #[test]
    fn plain_text_is_taken_as_it_is() {
        assert_eq!(text(b"/* CTF 1.8 */"), ("/* CTF 1.8 */".into(), None));
        assert_eq!(text(b""), ("".into(), None));
    }
}
