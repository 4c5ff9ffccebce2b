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
//!
//! A packet that cannot be used is reported, and reading continues at the next magic number. Where its content is lost the
//! text gets a NUL, which no statement can contain, so that the two halves are never taken for one.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem;

use super::problem::Problems;

/// What metadata packets begin with, in the tracer's byte order.
pub const MAGIC: u32 = 0x75D1_1D57;
const HEADER: usize = 37;

/// Stands in the text where a part of it is lost.
pub const GAP: u8 = 0;

/// The text in a metadata file, and what is wrong with its packets.
pub fn text(bytes: &[u8]) -> (Cow<'_, str>, Problems) {
    let mut problems = Problems::default();
    let Some(order) = Order::of(bytes) else {
        let text = std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed);
        return (text, problems);
    };
    let mut file = File { bytes, order, text: Vec::with_capacity(bytes.len()) };
    let mut at = 0;
    while at < bytes.len() {
        at = file.packet(at, &mut problems);
    }
    let text = String::from_utf8(file.text);
    let text = text.unwrap_or_else(|wrong| String::from_utf8_lossy(wrong.as_bytes()).into_owned());
    (Cow::Owned(text), problems)
}

/// Where in a file that grows its last whole packet ends, from where one ends on; in plain text, its last whole character.
/// `None` if a packet is damaged, so that only all of the file shows where the next one begins.
pub fn whole(bytes: &[u8], from: usize) -> Option<usize> {
    let is_packets = |order: &Order| bytes.starts_with(&order.magic());
    let Some(order) = [Order::Little, Order::Big].into_iter().find(is_packets) else {
        // Up to its fourth byte nothing shows whether the file consists of packets.
        let is_text = bytes.len() >= 4 && Order::of(&bytes[..4]).is_none();
        let end = std::str::from_utf8(&bytes[from..]).map_or_else(|error| error.valid_up_to(), str::len);
        return is_text.then_some(from + end);
    };
    let mut end = from;
    while let Some(header) = bytes.get(end..end + HEADER) {
        let sizes =
            order.sizes(header).filter(|_| header.starts_with(&order.magic()) && header[32..35] == [0; 3])?;
        if sizes.packet > bytes.len() - end {
            break;
        }
        end += sizes.packet;
    }
    Some(end)
}

/// The text of whole packets, or plain text, from where a packet ends on.
pub fn whole_text(bytes: &[u8], range: Range<usize>) -> Option<String> {
    let order = [Order::Little, Order::Big].into_iter().find(|order| bytes.starts_with(&order.magic()));
    let Some(order) = order else { return String::from_utf8(bytes[range].to_vec()).ok() };
    let mut text = Vec::new();
    let mut at = range.start;
    while at < range.end {
        let Sizes { content, packet } = order.sizes(&bytes[at..])?;
        text.extend_from_slice(&bytes[at + HEADER..at + content]);
        at += packet;
    }
    String::from_utf8(text).ok()
}

/// The byte order of packet headers.
#[derive(Clone, Copy)]
enum Order {
    Little,
    Big,
}

impl Order {
    /// The order in a file that consists of packets. Plain text contains no magic number.
    fn of(bytes: &[u8]) -> Option<Order> {
        let is_first = |order: &Order| bytes.starts_with(&order.magic());
        // The first packet's magic number may be damaged: then its sizes, or another packet, give the order.
        let is_plain = bytes.get(32..35) == Some(&[0; 3]);
        let is_header =
            |order: &Order| is_plain && order.sizes(bytes).is_some_and(|sizes| sizes.packet == bytes.len());
        let is_found = |order: &Order| memmem::find(bytes, &order.magic()).is_some();
        let either = |fits: &dyn Fn(&Order) -> bool| [Order::Little, Order::Big].into_iter().find(fits);
        either(&is_first).or_else(|| either(&is_header)).or_else(|| either(&is_found))
    }

    fn magic(self) -> [u8; 4] {
        match self {
            Order::Little => MAGIC.to_le_bytes(),
            Order::Big => MAGIC.to_be_bytes(),
        }
    }

    /// The sizes in a header, if they do not contradict each other.
    fn sizes(self, header: &[u8]) -> Option<Sizes> {
        let bytes = |at: usize| {
            let bits = *header.get(at..)?.first_chunk()?;
            let bits = match self {
                Order::Little => u32::from_le_bytes(bits),
                Order::Big => u32::from_be_bytes(bits),
            };
            Some(bits as usize / 8)
        };
        let sizes = Sizes { content: bytes(24)?, packet: bytes(28)? };
        (HEADER <= sizes.content && sizes.content <= sizes.packet).then_some(sizes)
    }
}

/// The sizes of a packet and of what it contains, in bytes.
struct Sizes {
    content: usize,
    packet: usize,
}

/// A file that consists of packets.
struct File<'a> {
    bytes: &'a [u8],
    order: Order,
    text: Vec<u8>,
}

impl File<'_> {
    /// Takes the content of the packet at a position into the text. Returns the position of the next packet.
    fn packet(&mut self, at: usize, problems: &mut Problems) -> usize {
        let rest = &self.bytes[at..];
        let Some(header) = rest.first_chunk::<HEADER>() else {
            problems.cut_packet(at, "the file ends in the header");
            return self.bytes.len();
        };
        let is_supported = header[32..35] == [0; 3];
        let (content, size) = match self.order.sizes(header) {
            Some(Sizes { content, packet }) if self.is_end(at.saturating_add(packet)) => {
                if !self.is_magic(at) {
                    problems.add_packet(at, "no magic number");
                }
                (Some(content), packet)
            }
            sizes => {
                // Only the next magic number shows where the packet ends.
                let next = memmem::find(&rest[4..], &self.order.magic());
                let end = next.map_or(rest.len(), |next| next + 4);
                match sizes.filter(|_| self.is_magic(at)) {
                    Some(Sizes { content, packet }) if next.is_none() && packet > end => {
                        problems.cut_packet(at, "the file ends before the packet does");
                        (Some(content.min(end)), end)
                    }
                    Some(Sizes { content, .. }) => {
                        problems.add_packet(at, "its size does not end at the next packet");
                        (Some(content).filter(|&content| content <= end), end)
                    }
                    None => {
                        let is_magic = self.is_magic(at);
                        let reason =
                            if is_magic { "its sizes contradict each other" } else { "no magic number" };
                        problems.add_packet(at, reason);
                        (None, end)
                    }
                }
            }
        };
        if !is_supported {
            problems.add_packet(at, "compressed, encrypted or check-summed metadata is not supported");
        }
        match content.filter(|_| is_supported) {
            Some(content) => self.text.extend_from_slice(&rest[HEADER..content]),
            None => self.text.push(GAP),
        }
        at + size
    }

    fn is_magic(&self, at: usize) -> bool {
        self.bytes.get(at..).is_some_and(|rest| rest.starts_with(&self.order.magic()))
    }

    /// Whether a packet may end here: at the end of the file, or before another packet. The magic number of that packet
    /// may be damaged, if its sizes lead to a packet's end again.
    fn is_end(&self, at: usize) -> bool {
        // At the end, also a part of a magic number.
        let is_sound = |at: usize| {
            let rest = self.bytes.get(at..);
            rest.is_some_and(|rest| rest.iter().zip(self.order.magic()).all(|(&byte, magic)| byte == magic))
        };
        let sizes = self.bytes.get(at..).and_then(|rest| self.order.sizes(rest));
        is_sound(at) || sizes.is_some_and(|sizes| is_sound(at.saturating_add(sizes.packet)))
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub fn metadata_packet(text: &str, padding: usize) -> Vec<u8> {
        let mut packet = MAGIC.to_be_bytes().to_vec();
        packet.extend([7; 20]);
        let content = HEADER + text.len();
        packet.extend((content as u32 * 8).to_be_bytes());
        packet.extend(((content + padding) as u32 * 8).to_be_bytes());
        packet.extend([0, 0, 0, 1, 8]);
        packet.extend(text.bytes().chain(std::iter::repeat_n(b'?', padding)));
        packet
    }

    /// The text, and the problems in words.
    fn read(file: &[u8]) -> (String, Vec<String>) {
        let (text, problems) = text(file);
        (text.into_owned(), problems.finish().iter().map(ToString::to_string).collect())
    }

    #[test]
    fn contents_are_joined_without_the_padding() {
        let file = [metadata_packet("tra", 5), metadata_packet("ce {};", 0)].concat();
        assert_eq!(read(&file), ("trace {};".into(), vec![]));
    }

    #[test]
    fn file_that_ends_early_gives_what_it_has() {
        let file = [metadata_packet("tra", 5), metadata_packet("ce {};", 9)].concat();
        let problem = "metadata packet at byte 45: the file ends before the packet does";
        assert_eq!(read(&file[..file.len() - 1]), ("trace {};".into(), vec![problem.into()]));
        let problem = "metadata packet at byte 45: the file ends in the header";
        assert_eq!(read(&file[..50]), ("tra".into(), vec![problem.into()]));
    }

    #[test]
    fn plain_text_is_taken_as_it_is() {
        assert_eq!(read(b"/* CTF 1.8 */"), ("/* CTF 1.8 */".into(), vec![]));
        assert_eq!(read(b""), ("".into(), vec![]));
    }

    #[test]
    fn reading_goes_on_after_a_broken_packet() {
        let packets =
            [metadata_packet("first ", 1), metadata_packet("second ", 2), metadata_packet("third", 3)];
        let file = packets.concat();
        let second = packets[0].len();
        let damaged = |at: usize, byte: u8| {
            let mut file = file.clone();
            file[second + at] = byte;
            read(&file)
        };
        let problem = |reason: &str| vec![format!("metadata packet at byte {second}: {reason}")];
        assert_eq!(damaged(0, 1), ("first second third".into(), problem("no magic number")));
        assert_eq!(damaged(24, 9), ("first \0third".into(), problem("its sizes contradict each other")));
        assert_eq!(
            damaged(28, 9),
            ("first second third".into(), problem("its size does not end at the next packet"))
        );
        let unsupported = "compressed, encrypted or check-summed metadata is not supported";
        assert_eq!(damaged(32, 1), ("first \0third".into(), problem(unsupported)));
    }

    #[test]
    fn damaged_magic_number_of_the_first_packet_does_not_hide_the_packets() {
        for packets in
            [vec![metadata_packet("only", 0)], vec![metadata_packet("on", 0), metadata_packet("ly", 1)]]
        {
            let mut file = packets.concat();
            file[3] ^= 1;
            assert_eq!(
                read(&file),
                ("only".into(), vec!["metadata packet at byte 0: no magic number".into()])
            );
        }
    }
}
