//! The lengths that are recorded before texts and lists.

use super::pack::Pack;

/// The type of a length in a trace.
pub trait Length: Copy {
    /// The largest length.
    const MAX: usize;

    /// Writes a length, and returns where what follows goes.
    ///
    /// # Safety
    /// `to` is valid for writes of a `Self`.
    unsafe fn pack(length: usize, to: *mut u8) -> *mut u8;
}

macro_rules! lengths {
    ($($type:ty)+) => {
        $(
            impl Length for $type {
                const MAX: usize =
                    if size_of::<$type>() < size_of::<usize>() { <$type>::MAX as usize } else { usize::MAX };

                #[inline(always)]
                unsafe fn pack(length: usize, to: *mut u8) -> *mut u8 {
                    // SAFETY: the caller keeps the contract.
                    unsafe { Pack::pack(length as $type, to).0 }
                }
            }
        )+
    };
}

lengths!(u8 u16 u32 u64);
