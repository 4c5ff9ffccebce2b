//! Copies the bytes of a string and searches them for a NUL, in one pass.
//!
//! Most strings in events are short: a name, an address. Up to [`DIRECT`] bytes are copied here in as few
//! loads and stores as possible; the last of them overlap the previous ones, so that none reaches beyond the end.

use std::ptr::copy_nonoverlapping;

/// Longer strings are left to `memcpy` and `memchr`, which use wider vectors.
const DIRECT: usize = 128;

/// Copies bytes, and returns whether one of them is a NUL.
///
/// # Safety
/// `from` is valid for reads and `to` for writes of `length` bytes, and the two do not overlap.
#[inline(always)]
pub(super) unsafe fn copy_and_check(from: *const u8, to: *mut u8, length: usize) -> bool {
    // SAFETY: all offsets and sizes stay within `length`, as the condition of each branch says.
    unsafe {
        if (8..16).contains(&length) {
            let last = length - 8;
            let found = word(from, to) | word(from.add(last), to.add(last));
            found != 0
        } else {
            copy_others(from, to, length)
        }
    }
}

/// Copies fewer than eight bytes, or more than fifteen. Not inlined, so that an event with many strings has no more code than
/// in C.
///
/// # Safety
/// As for [`copy_and_check`].
#[inline(never)]
unsafe fn copy_others(from: *const u8, to: *mut u8, length: usize) -> bool {
    // SAFETY: the caller keeps the contract, and all offsets stay within `length`.
    unsafe {
        if length > DIRECT {
            copy_nonoverlapping(from, to, length);
            return before_nul(from, length) < length;
        }
        if length >= 16 {
            let mut found = vector::copy(from, to);
            let last = length - 16;
            let mut at = 16;
            while at < last {
                found = vector::either(found, vector::copy(from.add(at), to.add(at)));
                at += 16;
            }
            found = vector::either(found, vector::copy(from.add(last), to.add(last)));
            return vector::any(found);
        }
        if length >= 4 {
            let last = length - 4;
            let found = half_word(from, to) | half_word(from.add(last), to.add(last));
            return found != 0;
        }
        if length == 0 {
            return false;
        }
        let (middle, last) = (length / 2, length - 1);
        let bytes = [*from, *from.add(middle), *from.add(last)];
        *to = bytes[0];
        *to.add(middle) = bytes[1];
        *to.add(last) = bytes[2];
        bytes.contains(&0)
    }
}

/// The number of bytes before the first NUL; all of them if there is none.
///
/// # Safety
/// `start` is valid for reads of `length` bytes.
#[inline(never)]
pub(super) unsafe fn before_nul(start: *const u8, length: usize) -> usize {
    // With wide vectors, unlike the search of the standard library.
    #[cfg(all(unix, not(miri)))]
    {
        // SAFETY: the caller keeps the contract.
        let found = unsafe { super::c_library::memchr(start.cast(), 0, length) };
        if found.is_null() { length } else { found.addr() - start.addr() }
    }
    #[cfg(not(all(unix, not(miri))))]
    {
        // SAFETY: the caller keeps the contract.
        let bytes = unsafe { std::slice::from_raw_parts(start, length) };
        bytes.iter().position(|byte| *byte == 0).unwrap_or(length)
    }
}

/// Copies eight bytes; not 0 if one of them is.
///
/// # Safety
/// As for [`copy_and_check`], for eight bytes.
#[inline(always)]
unsafe fn word(from: *const u8, to: *mut u8) -> u64 {
    // SAFETY: the caller keeps the contract.
    let bytes = unsafe { from.cast::<u64>().read_unaligned() };
    // SAFETY: the caller keeps the contract.
    unsafe { to.cast::<u64>().write_unaligned(bytes) };
    bytes.wrapping_sub(0x0101_0101_0101_0101) & !bytes & 0x8080_8080_8080_8080
}

/// Copies four bytes; not 0 if one of them is.
///
/// # Safety
/// As for [`copy_and_check`], for four bytes.
#[inline(always)]
unsafe fn half_word(from: *const u8, to: *mut u8) -> u32 {
    // SAFETY: the caller keeps the contract.
    let bytes = unsafe { from.cast::<u32>().read_unaligned() };
    // SAFETY: the caller keeps the contract.
    unsafe { to.cast::<u32>().write_unaligned(bytes) };
    bytes.wrapping_sub(0x0101_0101) & !bytes & 0x8080_8080
}

/// Sixteen bytes at once, with the instructions that every x86-64 has.
#[cfg(target_arch = "x86_64")]
mod vector {
    use std::arch::x86_64::{
        __m128i, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_or_si128, _mm_setzero_si128,
        _mm_storeu_si128,
    };

    /// Copies sixteen bytes, and has ones where they are NUL.
    ///
    /// # Safety
    /// As for [`copy_and_check`](super::copy_and_check), for sixteen bytes.
    #[inline(always)]
    pub(super) unsafe fn copy(from: *const u8, to: *mut u8) -> __m128i {
        // SAFETY: the caller keeps the contract, and neither load nor store needs an alignment.
        unsafe {
            let bytes = _mm_loadu_si128(from.cast());
            _mm_storeu_si128(to.cast(), bytes);
            _mm_cmpeq_epi8(bytes, _mm_setzero_si128())
        }
    }

    #[inline(always)]
    pub(super) fn either(a: __m128i, b: __m128i) -> __m128i {
        // SAFETY: every x86-64 has SSE2.
        unsafe { _mm_or_si128(a, b) }
    }

    #[inline(always)]
    pub(super) fn any(found: __m128i) -> bool {
        // SAFETY: every x86-64 has SSE2.
        unsafe { _mm_movemask_epi8(found) != 0 }
    }
}

/// Sixteen bytes as two words.
#[cfg(not(target_arch = "x86_64"))]
mod vector {
    /// Copies sixteen bytes; not 0 if one of them is NUL.
    ///
    /// # Safety
    /// As for [`copy_and_check`](super::copy_and_check), for sixteen bytes.
    #[inline(always)]
    pub(super) unsafe fn copy(from: *const u8, to: *mut u8) -> u64 {
        // SAFETY: the caller keeps the contract.
        unsafe { super::word(from, to) | super::word(from.add(8), to.add(8)) }
    }

    #[inline(always)]
    pub(super) fn either(a: u64, b: u64) -> u64 {
        a | b
    }

    #[inline(always)]
    pub(super) fn any(found: u64) -> bool {
        found != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_is_copied_and_every_nul_is_found() {
        // Miri would take minutes.
        let step = if cfg!(miri) { 11 } else { 1 };
        for length in (0..40).chain((40..=DIRECT + 40).step_by(step)) {
            let bytes: Vec<u8> = (0..length).map(|index| (index % 255) as u8 + 1).collect();
            check(&bytes, false);
            for nul in (0..length).step_by(step) {
                let mut bytes = bytes.clone();
                bytes[nul] = 0;
                check(&bytes, true);
            }
        }
    }

    fn check(bytes: &[u8], has_nul: bool) {
        let mut copy = vec![0xaa; bytes.len() + 1];
        // SAFETY: the copy is larger.
        let found = unsafe { copy_and_check(bytes.as_ptr(), copy.as_mut_ptr(), bytes.len()) };
        assert_eq!(found, has_nul, "{bytes:?}");
        assert_eq!(copy[..bytes.len()], *bytes);
        assert_eq!(copy[bytes.len()], 0xaa, "nothing is written beyond {} bytes", bytes.len());
    }
}
