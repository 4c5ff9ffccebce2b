//! Numbers, in the byte order of the machine or of the network.

use super::pack::{Pack, Part};

/// A number of Rust that is recorded as it is.
pub trait Number: Pack {
    /// The bits, in the order of the machine.
    fn bits(self) -> u64;

    /// The number with its bytes in network order.
    fn to_network(self) -> Self;
}

macro_rules! numbers {
    ($($type:ty: $value:ident => $bits:expr, $network:expr;)+) => {
        $(
            impl Pack for $type {
                const SIZE: usize = size_of::<$type>();

                #[inline(always)]
                unsafe fn pack(self, to: *mut u8) -> (*mut u8, Self) {
                    // SAFETY: the caller keeps the contract; no alignment is needed.
                    unsafe { to.cast::<$type>().write_unaligned(self) };
                    // SAFETY: within the bytes that the caller vouches for, or at their end.
                    (unsafe { to.add(Self::SIZE) }, self)
                }

                #[inline(always)]
                fn part(self) -> Part {
                    Part::number(self.bits())
                }
            }

            impl Number for $type {
                #[inline(always)]
                fn bits(self) -> u64 {
                    let $value = self;
                    $bits
                }

                #[inline(always)]
                fn to_network(self) -> Self {
                    let $value = self;
                    $network
                }
            }
        )+
    };
}

numbers! {
    u8: value => value.into(), value;
    u16: value => value.into(), value.to_be();
    u32: value => value.into(), value.to_be();
    u64: value => value, value.to_be();
    i8: value => value as u64, value;
    i16: value => value as u64, value.to_be();
    i32: value => value as u64, value.to_be();
    i64: value => value as u64, value.to_be();
    f32: value => value.to_bits().into(), value;
    f64: value => value.to_bits(), value;
    bool: value => value.into(), value;
}

/// A number in network order. C gets it in the order of the machine.
#[derive(Clone, Copy, Debug)]
pub struct Network<T>(pub T);

impl<T: Number> Pack for Network<T> {
    const SIZE: usize = T::SIZE;

    #[inline(always)]
    unsafe fn pack(self, to: *mut u8) -> (*mut u8, Self) {
        // SAFETY: the caller keeps the contract, and the size is the same.
        (unsafe { self.0.to_network().pack(to) }.0, self)
    }

    #[inline(always)]
    fn part(self) -> Part {
        self.0.part()
    }
}
