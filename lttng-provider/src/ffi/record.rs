//! Recording an event: packed on the stack where it fits, and handed to C.
//!
//! Generated C has two functions for each event. The first takes packed bytes and writes them to every session
//! that records the event and whose filter can read them, which is nearly always all that is needed. Where more is needed
//! (another filter, a trigger, a probe of another library), it stops within its RCU section and returns where; the second
//! continues from there with all values and leaves the section. The second alone gets events that are not packed. An event
//! of a few numbers has one function, as C can unpack them.
//!
//! Packing is in a function apart, so that the frame of the one that emits stays small while no session records. It takes
//! each value as an argument: passed together, they would be copied to the caller's frame.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr::null;

use super::pack::{Pack, Part};
use super::probe::{ProbeArgument, ProbeFunction, fire};
use super::unlikely::unlikely;

/// The largest event that is packed on the stack, in bytes; larger events are written to LTTng's buffers piece by piece.
pub const PACKED_MAX: usize = 1536;

/// `struct lttng_provider_rest`: what the first function leaves to the second.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Rest {
    ip: *const c_void,
    /// Null if nothing is left; otherwise the second function must be called.
    probe: *const c_void,
}

/// The first function: packed bytes and their number; and where the event is emitted.
pub type Record = unsafe extern "C" fn(payload: *const u8, size: usize, ip: *const c_void) -> Rest;

/// The second function: the rest, the packed bytes as before or null, and a part for each field.
pub type Deliver = unsafe extern "C" fn(rest: Rest, payload: *const u8, size: usize, parts: *const Part);

/// The function for an event of a few numbers.
pub type RecordNumbers = unsafe extern "C" fn(payload: *const u8, ip: *const c_void);

/// The two functions that C has for an event.
#[derive(Clone, Copy, Debug)]
pub struct Functions {
    /// The first.
    pub record: Record,
    /// The second.
    pub deliver: Deliver,
}

/// The fields of an event.
pub trait Fields: Copy {
    /// The parts of all fields.
    type Parts: AsRef<[Part]>;

    /// The bytes that the event takes, at most.
    fn size(self) -> usize;

    /// Writes all fields; see [`Pack::pack`].
    ///
    /// # Safety
    /// `to` is valid for writes of `self.size()` bytes.
    unsafe fn pack(self, to: *mut u8) -> (*mut u8, Self);

    /// See [`Pack::cut`].
    fn cut(self) -> Self;

    /// See [`Pack::part`].
    fn parts(self) -> Self::Parts;

    /// Packs and records the event in a function apart. `CAPACITY` is what its fixed fields take, or [`PACKED_MAX`].
    ///
    /// # Safety
    /// The functions are those that C defines for an event with these fields.
    unsafe fn record<const CAPACITY: usize>(self, functions: &'static Functions, ip: *const c_void);

    /// Fires a probe in a function apart.
    ///
    /// # Safety
    /// The function is a probe's, and takes these arguments.
    unsafe fn probe<const N: usize>(self, arguments: &'static [ProbeArgument; N], function: ProbeFunction);
}

macro_rules! fields {
    ($($field:ident)*, $count:expr) => {
        // An event without fields is the unit, which clippy would rather not see written out.
        #[allow(clippy::unused_unit)]
        impl<$($field: Pack),*> Fields for ($($field,)*) {
            type Parts = [Part; $count];

            #[inline(always)]
            fn size(self) -> usize {
                #[allow(non_snake_case)]
                let ($($field,)*) = self;
                let fixed = const { 0 $(+ $field::SIZE)* };
                // Parts of a list may overlap, so that their sizes add up to more than there is memory.
                fixed$(.saturating_add($field.more()))*
            }

            #[inline(always)]
            unsafe fn pack(self, to: *mut u8) -> (*mut u8, Self) {
                #[allow(non_snake_case)]
                let ($($field,)*) = self;
                $(
                    // SAFETY: the caller has room for all fields, and each takes no more than it says.
                    #[allow(non_snake_case)]
                    let (to, $field) = unsafe { $field.pack(to) };
                )*
                (to, ($($field,)*))
            }

            #[inline(always)]
            fn cut(self) -> Self {
                #[allow(non_snake_case)]
                let ($($field,)*) = self;
                ($($field.cut(),)*)
            }

            #[inline(always)]
            fn parts(self) -> Self::Parts {
                #[allow(non_snake_case)]
                let ($($field,)*) = self;
                [$($field.part()),*]
            }

            #[inline(always)]
            unsafe fn record<const CAPACITY: usize>(self, functions: &'static Functions, ip: *const c_void) {
                #[inline(never)]
                #[allow(non_snake_case, clippy::too_many_arguments)]
                unsafe fn apart<const CAPACITY: usize, $($field: Pack),*>(
                    functions: &'static Functions,
                    ip: *const c_void,
                    $($field: $field,)*
                ) {
                    // SAFETY: the caller keeps the contract.
                    unsafe { pack_and_record::<CAPACITY, _>(($($field,)*), functions, ip) }
                }
                #[allow(non_snake_case)]
                let ($($field,)*) = self;
                // SAFETY: the caller keeps the contract.
                unsafe { apart::<CAPACITY, $($field),*>(functions, ip, $($field),*) }
            }

            #[inline(always)]
            unsafe fn probe<const N: usize>(
                self,
                arguments: &'static [ProbeArgument; N],
                function: ProbeFunction,
            ) {
                #[cold]
                #[inline(never)]
                #[allow(non_snake_case, clippy::too_many_arguments)]
                unsafe fn apart<const N: usize, $($field: Pack),*>(
                    arguments: &'static [ProbeArgument; N],
                    function: ProbeFunction,
                    $($field: $field,)*
                ) {
                    // SAFETY: the caller keeps the contract.
                    unsafe { fire(($($field,)*).cut().parts().as_ref(), arguments, function) }
                }
                #[allow(non_snake_case)]
                let ($($field,)*) = self;
                // SAFETY: the caller keeps the contract.
                unsafe { apart::<N, $($field),*>(arguments, function, $($field),*) }
            }
        }
    };
}

fields!(, 0);
fields!(A, 1);
fields!(A B, 2);
fields!(A B C, 3);
fields!(A B C D, 4);
fields!(A B C D E, 5);
fields!(A B C D E F, 6);
fields!(A B C D E F G, 7);
fields!(A B C D E F G H, 8);
fields!(A B C D E F G H I, 9);
fields!(A B C D E F G H I J, 10);

/// # Safety
/// As for [`Fields::record`].
#[inline(always)]
unsafe fn pack_and_record<const CAPACITY: usize, F: Fields>(
    fields: F,
    functions: &'static Functions,
    ip: *const c_void,
) {
    let mut packed = MaybeUninit::<[u8; CAPACITY]>::uninit();
    let start = packed.as_mut_ptr().cast::<u8>();
    let (mut payload, mut size, mut rest) = (null(), 0, Rest { ip, probe: null() });
    let fields = if fields.size() <= CAPACITY {
        // SAFETY: there is room for `size()` bytes, and the payload is that of an event with these fields.
        unsafe {
            let (end, fields) = fields.pack(start);
            (payload, size) = (start.cast_const(), end.addr() - start.addr());
            rest = (functions.record)(payload, size, ip);
            if rest.probe.is_null() {
                return;
            }
            fields
        }
    } else {
        fields.cut()
    };
    unlikely();
    let parts = fields.parts();
    // SAFETY: as above, with what the first function returned and a part for each field. Nothing between the two calls can
    // unwind, so the RCU section is left.
    unsafe { (functions.deliver)(rest, payload, size, (&raw const parts).cast()) };
}

/// Records an event of a few numbers, which take `SIZE` bytes.
///
/// # Safety
/// The function is the one that C defines for an event with these fields.
#[inline(always)]
pub unsafe fn record_numbers<const SIZE: usize, F: Fields>(fields: F, record: RecordNumbers) {
    let mut packed = MaybeUninit::<[u8; SIZE]>::uninit();
    let start = packed.as_mut_ptr().cast::<u8>();
    // SAFETY: numbers take as many bytes as the catalog says, and the function reads these.
    unsafe {
        fields.pack(start);
        record(start.cast_const(), call_site());
    }
}

/// The address of the code that emits, which LTTng shows as `ip`; null on processors that it is not known for.
#[inline(always)]
pub fn call_site() -> *const c_void {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        let address;
        // SAFETY: it only computes an address.
        unsafe {
            std::arch::asm!("lea {}, [rip]", out(reg) address, options(nomem, nostack, preserves_flags));
        }
        address
    }
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    {
        let address;
        // SAFETY: it only computes an address.
        unsafe { std::arch::asm!("adr {}, .", out(reg) address, options(nomem, nostack, preserves_flags)) };
        address
    }
    #[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
    null()
}

/// Records an event with packed fields of at most `$capacity` bytes, by the two functions that C has for it.
#[doc(hidden)]
#[macro_export]
macro_rules! __record {
    ($fields:ident, call_site, $($more:tt)*) => {
        $crate::__private::record!($fields, $crate::__private::call_site(), $($more)*)
    };
    ($fields:ident, $ip:expr, $capacity:expr, $record:ident, $deliver:ident $(,)?) => {{
        // SAFETY: generated C defines both, with these types.
        unsafe extern "C" {
            fn $record(payload: *const u8, size: usize, ip: *const ::core::ffi::c_void) -> $crate::__private::Rest;
            fn $deliver(
                rest: $crate::__private::Rest,
                payload: *const u8,
                size: usize,
                parts: *const $crate::__private::Part,
            );
        }
        static FUNCTIONS: $crate::__private::Functions =
            $crate::__private::Functions { record: $record, deliver: $deliver };
        // SAFETY: the C and these fields are made from the same event of a catalog.
        unsafe { $crate::__private::Fields::record::<{ $capacity }>($fields, &FUNCTIONS, $ip) }
    }};
}

/// Records an event of a few numbers, which take `$size` bytes, by the function that C has for it.
#[doc(hidden)]
#[macro_export]
macro_rules! __record_numbers {
    ($fields:ident, $size:expr, $record:ident $(,)?) => {{
        // SAFETY: generated C defines it, with this type.
        unsafe extern "C" {
            fn $record(payload: *const u8, ip: *const ::core::ffi::c_void);
        }
        // SAFETY: the C and these fields are made from the same event of a catalog.
        unsafe { $crate::__private::record_numbers::<{ $size }, _>($fields, $record) }
    }};
}

#[cfg(test)]
mod tests {
    use super::super::*;
    use super::*;
    use crate::Text;

    /// The bytes of an event, packed.
    fn packed(fields: impl Fields) -> Vec<u8> {
        let mut bytes = vec![0xaa; fields.size()];
        let start = bytes.as_mut_ptr();
        // SAFETY: there are `size()` bytes.
        let (end, _) = unsafe { fields.pack(start) };
        bytes.truncate(end.addr() - start.addr());
        bytes
    }

    #[test]
    fn numbers_lie_one_after_the_other() {
        let bytes = packed((1_u8, -2_i16, true, 1.5_f32));
        assert_eq!(bytes, [&[1][..], &(-2_i16).to_ne_bytes(), &[1], &1.5_f32.to_ne_bytes()].concat());
        assert_eq!(packed((Network(0x0102_u16), Network(-2_i32))), [1, 2, 0xff, 0xff, 0xff, 0xfe]);
    }

    #[test]
    fn string_ends_at_its_first_nul() {
        for length in (0..300).step_by(if cfg!(miri) { 7 } else { 1 }) {
            let long = "x".repeat(length);
            let expected = [long.as_bytes(), b"\0"].concat();
            assert_eq!(packed((Terminated::new(Text::from(&long)),)), expected);
            let text = format!("{long}\0after");
            assert_eq!(packed((Terminated::new(Text::from(&text)),)), expected);
        }
        assert_eq!(packed((Terminated::new(Text::from(c"ab")), 7_u8)), *b"ab\0\x07");
    }

    #[test]
    fn text_has_its_length_before_it_and_nuls_after_its_first() {
        assert_eq!(packed((Counted::<u8>::new(Text::from("ab")),)), *b"\x02ab");
        assert_eq!(packed((Counted::<u8>::new(Text::from("a\0b")),)), *b"\x03a\0\0");
        assert_eq!(packed((Counted::<u8>::new(Text::from(&"x".repeat(300))),)).len(), 256);
        assert_eq!(packed((Characters::<4>::new(Text::from("ab")),)), *b"ab\0\0");
        assert_eq!(packed((Characters::<4>::new(Text::from("a\0b")),)), *b"a\0\0\0");
        assert_eq!(packed((Characters::<4>::new(Text::from("abcdef")),)), *b"abcd");
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes there")]
    fn limit_holds_for_every_text() {
        let long = "x".repeat(Text::MAX + 1);
        let terminated = std::ffi::CString::new(long.clone()).unwrap();
        assert_eq!(packed((Terminated::new(Text::from(&long)),)).len(), Text::MAX + 1);
        assert_eq!(packed((Terminated::new(Text::from(&terminated)),)).len(), Text::MAX + 1);
        assert_eq!(packed((Counted::<u32>::new(Text::from(&terminated)),)).len(), Text::MAX + 4);
    }

    #[test]
    fn lists_have_their_length_before_them() {
        let list = List::<u16, u8>::new(&[0x0101, 0x0202]);
        assert_eq!(packed((list, Array(&[3_u8, 4]))), [2, 1, 1, 2, 2, 3, 4]);
        let list = NetworkList::<u16, u8>::new(&[0x0102, 0x0304]);
        assert_eq!(packed((list, NetworkArray(&[0x0506_u16]))), [2, 1, 2, 3, 4, 5, 6]);
        assert_eq!(packed((List::<u8, u8>::new(&[7; 300]),)).len(), 256);
    }

    #[test]
    fn unrecorded_field_takes_no_room() {
        assert_eq!(packed((1_u8, Unrecorded(2_u64), Unrecorded(Terminated::new(Text::from("x"))))), [1]);
    }

    thread_local! {
        static DELIVERED: std::cell::RefCell<Vec<(Vec<u8>, Vec<u8>)>> = const { std::cell::RefCell::new(Vec::new()) };
    }

    unsafe extern "C" fn leave_all(_: *const u8, _: usize, _: *const c_void) -> Rest {
        Rest { ip: null(), probe: std::ptr::NonNull::<c_void>::dangling().as_ptr() }
    }

    /// Notes the payload and the bytes of the first part.
    unsafe extern "C" fn deliver(_: Rest, payload: *const u8, size: usize, parts: *const Part) {
        // SAFETY: `record` vouches for both, and the events below have a text first.
        let noted = unsafe {
            let payload = if payload.is_null() { &[] } else { std::slice::from_raw_parts(payload, size) };
            let part = *parts;
            (payload.to_vec(), std::slice::from_raw_parts(part.start(), part.length()).to_vec())
        };
        DELIVERED.with_borrow_mut(|all| all.push(noted));
    }

    #[test]
    fn second_function_gets_what_was_packed_and_every_value() {
        for length in [0, 3, PACKED_MAX - 2, PACKED_MAX - 1, PACKED_MAX, 3 * PACKED_MAX] {
            let text = "x".repeat(length);
            let fields = (Terminated::new(Text::from(&text)), 7_u8);
            static FUNCTIONS: Functions = Functions { record: leave_all, deliver };
            // SAFETY: the two functions take an event with these fields.
            unsafe { fields.record::<PACKED_MAX>(&FUNCTIONS, null()) };
            let (payload, part) = DELIVERED.take().remove(0);
            assert_eq!(part, text.as_bytes());
            let all = [text.as_bytes(), b"\0\x07"].concat();
            assert_eq!(payload, if all.len() <= PACKED_MAX { all } else { Vec::new() });
        }
    }
}
