//! USDT probes by SystemTap's convention: a `nop`, and an ELF note that says where it is and where its arguments are.
//!
//! A probe here is a function of two instructions, written in assembly, so that neither a C compiler nor a header is
//! needed. Its argument points to the values, each in 64 bits, and the note describes them as memory from there. Function,
//! note and semaphore are one group of sections: a linker keeps all or none.

use std::mem::MaybeUninit;

use super::pack::Part;

/// An argument of a probe: what it takes from the field with this index.
#[derive(Clone, Copy, Debug)]
pub enum ProbeArgument {
    /// A number.
    Value(usize),
    /// A pointer to text that ends in a NUL.
    Text(usize),
    /// A pointer to elements.
    Start(usize),
    /// The number of bytes or elements.
    Length(usize),
}

/// The most bytes of a text that are copied, with its NUL; of a longer one without a length the rest is cut off.
const TEXT_MAX: usize = 256;

/// A function at whose start a probe is, called with its values.
pub type ProbeFunction = unsafe extern "C" fn(*const u64);

/// Fires a probe with `N` arguments from the parts of an event's fields.
///
/// # Safety
/// `function` is the one that [`usdt_probe`](crate::__private::usdt_probe) defines, and the indices are of these parts.
#[inline(always)]
pub(super) unsafe fn fire<const N: usize>(
    parts: &[Part],
    arguments: &[ProbeArgument; N],
    function: ProbeFunction,
) {
    let is_counted =
        |index| arguments.iter().any(|other| matches!(other, ProbeArgument::Length(i) if *i == index));
    let mut copies = [const { MaybeUninit::<[u8; TEXT_MAX]>::uninit() }; N];
    let mut values = [0; N];
    for ((&argument, value), copy) in arguments.iter().zip(&mut values).zip(&mut copies) {
        *value = match argument {
            ProbeArgument::Value(index) => parts[index].value(),
            ProbeArgument::Start(index) => parts[index].start().expose_provenance() as u64,
            ProbeArgument::Length(index) => parts[index].length() as u64,
            // The length is that of the whole text, so the pointer leads to all of it.
            ProbeArgument::Text(index) if parts[index].length() >= TEXT_MAX && is_counted(index) => {
                parts[index].start().expose_provenance() as u64
            }
            ProbeArgument::Text(index) => terminated(parts[index], copy).expose_provenance() as u64,
        };
    }
    // SAFETY: the function reads nothing, and a tracer reads the number of values in its note.
    unsafe { function(values.as_ptr()) };
    // The compiler cannot see that they are read through an address.
    std::hint::black_box((&values, &copies));
}

/// A copy of a text, with a NUL after it.
fn terminated(text: Part, copy: &mut MaybeUninit<[u8; TEXT_MAX]>) -> *const u8 {
    let start = copy.as_mut_ptr().cast::<u8>();
    let length = text.length().min(TEXT_MAX - 1);
    // SAFETY: the part of a text is valid for its length, and the copy has room for that and a NUL.
    unsafe {
        start.copy_from_nonoverlapping(text.start(), length);
        start.add(length).write(0);
    }
    start
}

/// Fires the probe of an event with these fields if a tracer is attached to it.
#[doc(hidden)]
#[macro_export]
macro_rules! __probe {
    ($fields:ident, tracepoint $tracepoint:ident, $function:ident $(, $kind:ident $index:literal)* $(,)?) => {{
        // SAFETY: generated C defines it, with the type that LTTng-UST gives it.
        unsafe extern "C" {
            safe static $tracepoint: $crate::__private::Tracepoint;
        }
        $crate::__private::probe!(@ $tracepoint.semaphore() != 0, $fields, $function $(, $kind $index)*)
    }};
    ($fields:ident, semaphore $semaphore:ident, $function:ident $(, $kind:ident $index:literal)* $(,)?) => {{
        $crate::__private::probe!(@ $crate::__private::probe_enabled!($semaphore), $fields, $function $(, $kind $index)*)
    }};
    (@ $attached:expr, $fields:ident, $function:ident $(, $kind:ident $index:literal)*) => {
        if $attached {
            // SAFETY: the assembly of the probe defines it, with this type.
            unsafe extern "C" {
                fn $function(values: *const u64);
            }
            // SAFETY: the assembly and these fields are made from the same event of a catalog.
            unsafe {
                $crate::__private::Fields::probe(
                    $fields,
                    const { &[$($crate::__private::ProbeArgument::$kind($index)),*] },
                    $function,
                )
            };
        }
    };
}

/// Fires a probe without arguments.
#[doc(hidden)]
#[macro_export]
macro_rules! __start_probe {
    ($function:ident) => {{
        // SAFETY: the assembly of the probe defines it, with this type.
        unsafe extern "C" {
            fn $function(values: *const u64);
        }
        // SAFETY: it reads nothing, and its note has no arguments.
        unsafe { $function(::core::ptr::null()) };
    }};
}

/// Defines a probe: its function, its note, and room in the section `.probes`, whose position in the file leads
/// bpftrace to any semaphore.
#[doc(hidden)]
#[macro_export]
macro_rules! __usdt_probe {
    (
        function $function:literal, semaphore $semaphore:literal,
        $provider:literal, $name:literal, $x86_64:literal, $aarch64:literal $(,)?
    ) => {
        #[cfg(target_arch = "x86_64")]
        $crate::__private::usdt_probe!(@ $function, $semaphore, $provider, $name, $x86_64);
        #[cfg(target_arch = "aarch64")]
        $crate::__private::usdt_probe!(@ $function, $semaphore, $provider, $name, $aarch64);
    };
    (@ $function:literal, $semaphore:literal, $provider:literal, $name:literal, $operands:literal) => {
        ::core::arch::global_asm!(
            ::core::concat!(".pushsection .text.", $function, ",\"axG\",%progbits,", $function, ",comdat"),
            ::core::concat!(".globl ", $function),
            ::core::concat!(".hidden ", $function),
            ::core::concat!(".type ", $function, ", %function"),
            ::core::concat!($function, ":"),
            ".cfi_startproc",
            "990: nop",
            "ret",
            ".cfi_endproc",
            ::core::concat!(".size ", $function, ", . - ", $function),
            ".popsection",
            ::core::concat!(".pushsection .probes,\"awG\",%progbits,", $function, ",comdat"),
            ".balign 2",
            ".2byte 0",
            ".popsection",
            ::core::concat!(".pushsection .note.stapsdt,\"G\",%note,", $function, ",comdat"),
            ".balign 4",
            ".4byte 992f - 991f, 994f - 993f, 3",
            "991: .asciz \"stapsdt\"",
            "992: .balign 4",
            "993: .8byte 990b",
            ".8byte _.stapsdt.base",
            ::core::concat!(".8byte ", $semaphore),
            ::core::concat!(".asciz \"", $provider, "\""),
            ::core::concat!(".asciz \"", $name, "\""),
            ::core::concat!(".asciz \"", $operands, "\""),
            "994: .balign 4",
            ".popsection",
            ".ifndef _.stapsdt.base",
            ".pushsection .stapsdt.base,\"aG\",%progbits,.stapsdt.base,comdat",
            ".weak _.stapsdt.base",
            ".hidden _.stapsdt.base",
            "_.stapsdt.base: .space 1",
            ".size _.stapsdt.base, 1",
            ".popsection",
            ".endif",
        );
    };
}

/// Defines the semaphores, where no tracepoints of LTTng hold them.
///
/// Linkers may map a page of the file twice, at the end of one segment and at the start of the next. The kernel counts in
/// the first mapping that it finds, so semaphores must not be in such a page: they begin on a page boundary.
#[doc(hidden)]
#[macro_export]
macro_rules! __usdt_semaphores {
    ($($semaphore:literal),* $(,)?) => {
        #[cfg(target_arch = "x86_64")]
        $crate::__private::usdt_semaphores!(@ ".balign 4096", $($semaphore),*);
        #[cfg(not(target_arch = "x86_64"))]
        $crate::__private::usdt_semaphores!(@ ".balign 65536", $($semaphore),*);
    };
    (@ $align:literal, $($semaphore:literal),*) => {
        ::core::arch::global_asm!(
            ".pushsection .probes,\"aw\",%progbits",
            $align,
            $(
                ::core::concat!(".globl ", $semaphore),
                ::core::concat!(".hidden ", $semaphore),
                ::core::concat!(".type ", $semaphore, ", %object"),
                ::core::concat!($semaphore, ": .2byte 0"),
                ::core::concat!(".size ", $semaphore, ", 2"),
            )*
            ".popsection",
        );
    };
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::ffi::{CStr, c_char};
    use std::ptr::with_exposed_provenance;

    use super::*;
    use crate::Text;
    use crate::ffi::{Fields as _, List, Terminated};

    thread_local! {
        static SEEN: RefCell<Vec<(u64, String, Vec<u16>)>> = const { RefCell::new(Vec::new()) };
    }

    /// Reads the values as a tracer does: through their addresses.
    unsafe extern "C" fn tracer(values: *const u64) {
        // SAFETY: the probe below has four arguments, which live until this returns.
        let seen = unsafe {
            let values = std::slice::from_raw_parts(values, 4);
            let text = CStr::from_ptr(with_exposed_provenance::<c_char>(values[1] as usize));
            let list = with_exposed_provenance::<u16>(values[2] as usize);
            let list = std::slice::from_raw_parts(list, values[3] as usize);
            (values[0], text.to_str().unwrap().to_owned(), list.to_vec())
        };
        SEEN.with_borrow_mut(|all| all.push(seen));
    }

    #[test]
    fn tracer_reads_numbers_terminated_texts_and_lists() {
        use ProbeArgument::{Length, Start, Text as Copied, Value};
        let long = "x".repeat(TEXT_MAX);
        for text in ["get", "", "a\0b", long.as_str()] {
            let fields = (7_u32, Terminated::new(Text::from(text)), List::<u16, u8>::new(&[1, 2, 3]));
            // SAFETY: the function reads these arguments and no more.
            unsafe { fields.probe(const { &[Value(0), Copied(1), Start(2), Length(2)] }, tracer) };
            let (number, seen, list) = SEEN.take().remove(0);
            let expected = text.split('\0').next().unwrap();
            assert_eq!((number, list), (7, vec![1, 2, 3]));
            assert_eq!(seen, expected[..expected.len().min(TEXT_MAX - 1)]);
        }
    }
}
