//! Parquet's hybrid of runs and bit-packed numbers, for levels and the numbers of dictionary entries.

/// The numbers that are packed together.
const GROUP: usize = 8;

/// The bits that a number below this one needs.
pub fn width(count: usize) -> u32 {
    usize::BITS - count.saturating_sub(1).leading_zeros()
}

/// Appends numbers of this many bits each.
pub fn encode(numbers: &[u32], width: u32, out: &mut Vec<u8>) {
    // Where those begin that are to be packed.
    let (mut packed, mut at) = (0, 0);
    while let Some(group) = numbers.get(at..at + GROUP) {
        let first = group[0];
        if group.iter().any(|&number| number != first) {
            at += GROUP;
            continue;
        }
        let rest = &numbers[at + GROUP..];
        let length = GROUP + rest.iter().position(|&number| number != first).unwrap_or(rest.len());
        pack(&numbers[packed..at], width, out);
        run(first, length, width, out);
        at += length;
        packed = at;
    }
    pack(&numbers[packed..], width, out);
}

/// Appends one number, repeated.
pub fn run(number: u32, length: usize, width: u32, out: &mut Vec<u8>) {
    variable(length << 1, out);
    out.extend_from_slice(&number.to_le_bytes()[..width.div_ceil(8) as usize]);
}

/// Appends bits of numbers, in whole groups: the last is filled up with zeros, which readers do not look at.
fn pack(numbers: &[u32], width: u32, out: &mut Vec<u8>) {
    if numbers.is_empty() {
        return;
    }
    variable(numbers.len().div_ceil(GROUP) << 1 | 1, out);
    let (groups, rest) = numbers.as_chunks::<GROUP>();
    groups.iter().for_each(|group| pack_group(group, width, out));
    if !rest.is_empty() {
        let mut group = [0; GROUP];
        group[..rest.len()].copy_from_slice(rest);
        pack_group(&group, width, out);
    }
}

#[inline]
fn pack_group(group: &[u32; GROUP], width: u32, out: &mut Vec<u8>) {
    if width <= 8 {
        let bits = group.iter().rev().fold(0_u64, |bits, &number| bits << width | u64::from(number));
        out.extend_from_slice(&bits.to_le_bytes()[..width as usize]);
        return;
    }
    let (mut bits, mut filled) = (0_u64, 0);
    for &number in group {
        bits |= u64::from(number) << filled;
        filled += width;
        if filled >= 32 {
            out.extend_from_slice(&(bits as u32).to_le_bytes());
            bits >>= 32;
            filled -= 32;
        }
    }
    out.extend_from_slice(&bits.to_le_bytes()[..(filled / 8) as usize]);
}

/// Appends a number in as many groups of seven bits as it needs.
fn variable(mut number: usize, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the specification of Parquet says it.
    fn decode(mut bytes: &[u8], width: u32, count: usize) -> Vec<u32> {
        let mut numbers = Vec::new();
        while numbers.len() < count {
            let (mut header, mut shift) = (0_usize, 0);
            loop {
                let (&byte, rest) = bytes.split_first().expect("a header");
                bytes = rest;
                header |= usize::from(byte & 0x7F) << shift;
                shift += 7;
                if byte < 0x80 {
                    break;
                }
            }
            let bit = |bytes: &[u8], bit: usize| u32::from(bytes[bit / 8] >> (bit % 8) & 1);
            let width = width as usize;
            let number = |bytes: &[u8], at: usize| {
                (0..width).map(|place| bit(bytes, at * width + place) << place).sum()
            };
            let size = if header & 1 == 1 {
                numbers.extend((0..(header >> 1) * 8).map(|at| number(bytes, at)));
                (header >> 1) * width
            } else {
                numbers.extend(std::iter::repeat_n::<u32>(number(bytes, 0), header >> 1));
                width.div_ceil(8)
            };
            bytes = &bytes[size..];
        }
        numbers.truncate(count);
        assert!(bytes.is_empty(), "{} bytes are left", bytes.len());
        numbers
    }

    #[test]
    fn numbers_of_every_width_are_read_as_they_were() {
        let mut seed = 1_u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        for bits in 0..=32 {
            for length in [0, 1, 7, 8, 9, 64, 300, 1000] {
                let mut numbers: Vec<u32> = Vec::new();
                while numbers.len() < length {
                    let number = random(1 << bits) as u32;
                    numbers.extend(std::iter::repeat_n(number, [1, 1, 3, 20][random(4) as usize]));
                }
                numbers.truncate(length);
                let mut bytes = Vec::new();
                encode(&numbers, bits, &mut bytes);
                assert_eq!(decode(&bytes, bits, length), numbers, "{length} numbers of {bits} bits");
            }
        }
        assert_eq!([0, 1, 2, 3, 256, 257].map(width), [0, 0, 1, 2, 8, 9]);
    }
}
