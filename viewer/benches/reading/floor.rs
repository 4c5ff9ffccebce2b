//! The floor: a decoder for one layout, which knows everything at compile time and checks little.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use wide::u8x16;

/// The size of the packet header and context.
const HEADER: usize = 84;

/// The number of bytes after the beginning of its first text that can be read without looking where the event ends.
const MARGIN: usize = 128;

/// Counts and sums of durations by name.
pub struct Sums {
    /// A name of up to 16 bytes, how many events there are, and how long they took.
    table: Vec<(u128, u64, u64)>,
}

impl Sums {
    fn new() -> Sums {
        Sums { table: vec![(0, 0, 0); 256] }
    }

    /// Adds a command. There are so few names that each has its place to itself.
    #[inline]
    fn add(&mut self, name: u128, duration: u64) {
        let mixed = (name as u64 ^ (name >> 64) as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let (known, count, total) = &mut self.table[(mixed >> 56) as usize];
        assert!(*count == 0 || *known == name, "two names in one place");
        (*known, *count, *total) = (name, *count + 1, *total + duration);
    }

    /// How many events there are.
    pub fn events(&self) -> u64 {
        self.table.iter().map(|(_, count, _)| count).sum()
    }
}

/// Reads a trace, a packet at a time.
pub fn read(folder: &Path) -> Sums {
    let mut sums = Sums::new();
    let mut packet = Vec::new();
    for stream in ctf_reader::stream_files(folder).expect("the folder can be read") {
        let mut file = File::open(stream).expect("the stream is there");
        let mut header = [0; HEADER];
        while file.read_exact(&mut header).is_ok() {
            let [content, size] = [48, 56].map(|at| u64_at(&header, at) as usize / 8);
            packet.resize(packet.len().max(size + MARGIN), 0);
            file.read_exact(&mut packet[HEADER..size]).expect("the packet is there");
            events(&packet, content, u64_at(&header, 32), &mut sums);
        }
    }
    sums
}

fn events(bytes: &[u8], content: usize, begin: u64, sums: &mut Sums) {
    let (mut at, mut clock) = (HEADER, begin);
    while at < content {
        let first = u64_at(bytes, at);
        if first as u16 == u16::MAX {
            clock = u64_at(bytes, at + 6);
            at += 14;
        } else {
            clock += u64::from(((first >> 16) as u32).wrapping_sub(clock as u32));
            at += 6;
        }
        at += 12;
        let texts = &bytes[at..at + MARGIN];
        let first_nul = nuls(texts);
        let second_nul = first_nul & (first_nul - 1);
        let third_nul = second_nul & (second_nul - 1);
        let [name, end] = [second_nul, third_nul].map(|nuls| nuls.trailing_zeros() as usize + 1);
        let bits = 8 * (end - 1 - name) as u32;
        let name = u128_at(texts, name) & (u128::MAX >> (128 - bits));
        sums.add(name, u64_at(texts, end));
        at += end + 8;
    }
    std::hint::black_box(clock);
}

/// Which of the first 64 bytes are NUL, the first one in the lowest bit.
fn nuls(bytes: &[u8]) -> u64 {
    let of = |at: usize| {
        let bytes: [u8; 16] = bytes[at..at + 16].try_into().expect("the length is checked");
        u64::from(u8x16::from(bytes).cmp_eq(u8x16::ZERO).move_mask() as u16)
    };
    (of(0) | of(16) << 16) | (of(32) | of(48) << 16) << 32
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("the length is checked"))
}

fn u128_at(bytes: &[u8], at: usize) -> u128 {
    u128::from_le_bytes(bytes[at..at + 16].try_into().expect("the length is checked"))
}
