//! The event path: a value for each field is packed in the layout of a trace, and handed to sessions and tracers.
//!
//! It takes no lock and allocates nothing, so that it may run in a signal handler. What is packed is on the stack, or
//! in pages that are mapped for the time of the call if it has more than [`PACKED_MAX`] bytes.

use std::ffi::{c_char, c_int, c_void};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

use super::bindings::*;
use super::library::Library;
use super::slots::{Shape, SlotPointer};
use crate::declaration::{FIELDS_MAX, Kind};

/// The most bytes of a text that are recorded, without its NUL.
pub const TEXT_MAX: usize = 65_535;

/// The most bytes of an event that are packed on the stack.
const PACKED_MAX: usize = 512;

/// A value for a field: any integer for an integer field, which cuts off what does not fit; a number with a fraction for a
/// floating-point field; and text, of which what follows a NUL is not recorded.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Value<'a> {
    kind: u32,
    length: u32,
    bits: u64,
    text: PhantomData<&'a [u8]>,
}

// As in `lttng-runtime.h`.
const INTEGER: u32 = 0;
const FLOAT: u32 = 1;
const TEXT: u32 = 2;

impl<'a> Value<'a> {
    fn new(kind: u32, length: u32, bits: u64) -> Value<'a> {
        Value { kind, length, bits, text: PhantomData }
    }
}

macro_rules! from_integers {
    ($($type:ty)*) => {$(
        impl From<$type> for Value<'_> {
            fn from(value: $type) -> Self {
                // Sign-extended where it has a sign.
                Value::new(INTEGER, 0, value as u64)
            }
        }
    )*};
}

from_integers!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize bool);

impl From<f64> for Value<'_> {
    fn from(value: f64) -> Self {
        Value::new(FLOAT, 0, value.to_bits())
    }
}

impl From<f32> for Value<'_> {
    fn from(value: f32) -> Self {
        f64::from(value).into()
    }
}

impl<'a> From<&'a [u8]> for Value<'a> {
    fn from(text: &'a [u8]) -> Self {
        let length = text.len().min(TEXT_MAX) as u32;
        Value::new(TEXT, length, text.as_ptr().expose_provenance() as u64)
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        text.as_bytes().into()
    }
}

/// The alignment of a number in a trace.
pub(super) const fn alignment(bytes: usize) -> usize {
    // As <lttng/ust-arch.h> has it.
    if cfg!(any(target_arch = "x86_64", target_arch = "x86")) { 1 } else { bytes }
}

/// Marks what LTTng-UST delivers as ours. It is not called by us, and does nothing where a tracepoint of the same name
/// in another library calls it, whose arguments are others.
unsafe extern "C" fn callback() {}

/// Its one address: a compiler may make several copies of a function.
pub(super) static CALLBACK: unsafe extern "C" fn() = callback;

/// Records an event; false if the values do not fit its fields.
///
/// # Safety
/// The slot's event was not freed, and texts are valid for their lengths.
pub(super) unsafe fn record(slot: SlotPointer, values: &[Value<'_>], ip: *mut c_void) -> bool {
    // SAFETY: a slot keeps its shape until it is freed.
    let Some(shape) = (unsafe { (*slot.as_ptr()).shape.load(Ordering::Acquire).as_ref() }) else {
        return true;
    };
    let mut lengths = [0; FIELDS_MAX];
    // SAFETY: the caller's.
    let Some(size) = (unsafe { measure(&shape.kinds, values, &mut lengths) }) else { return false };
    if size <= PACKED_MAX {
        let mut packed = [MaybeUninit::<u8>::uninit(); PACKED_MAX];
        // SAFETY: there is room for the measured size.
        unsafe { deliver(slot, shape, values, &lengths, packed.as_mut_ptr().cast(), size, ip) };
    } else if let Some(pages) = Pages::map(size) {
        // SAFETY: as above.
        unsafe { deliver(slot, shape, values, &lengths, pages.start, size, ip) };
    }
    true
}

/// The packed size, and the lengths of texts; `None` if the values do not fit the fields.
///
/// # Safety
/// Texts are valid for their lengths.
#[inline(always)]
unsafe fn measure(kinds: &[Kind], values: &[Value<'_>], lengths: &mut [usize; FIELDS_MAX]) -> Option<usize> {
    if kinds.len() != values.len() {
        return None;
    }
    let mut size = 0_usize;
    for ((kind, value), length) in kinds.iter().zip(values).zip(lengths) {
        size = match (kind, value.kind) {
            (Kind::Integer { bytes, .. }, INTEGER) | (Kind::Float { bytes }, FLOAT) => {
                size.next_multiple_of(alignment(*bytes)) + bytes
            }
            (Kind::Text, TEXT) => {
                // SAFETY: the caller's.
                *length = unsafe { libc::strnlen(value.start(), (value.length as usize).min(TEXT_MAX)) };
                size + *length + 1
            }
            _ => return None,
        };
    }
    Some(size)
}

impl Value<'_> {
    /// The beginning of a text; no text is empty.
    fn start(&self) -> *const c_char {
        if self.bits == 0 { c"".as_ptr() } else { std::ptr::with_exposed_provenance(self.bits as usize) }
    }
}

/// # Safety
/// `packed` has room for the measured size.
unsafe fn deliver(
    slot: SlotPointer,
    shape: &Shape,
    values: &[Value<'_>],
    lengths: &[usize; FIELDS_MAX],
    packed: *mut u8,
    size: usize,
    ip: *mut c_void,
) {
    // What filters, captures and USDT tracers read: integers, doubles, and pointers to texts that end in a NUL.
    let mut words = [0; FIELDS_MAX];
    let mut largest = 1;
    let mut at = 0_usize;
    for (((kind, value), &length), word) in shape.kinds.iter().zip(values).zip(lengths).zip(&mut words) {
        let mut put = |number: u64, bytes: usize| {
            largest = largest.max(alignment(bytes));
            at = at.next_multiple_of(alignment(bytes));
            // SAFETY: this is what was measured. A size that is known saves a call.
            unsafe {
                match bytes {
                    1 => packed.add(at).write(number as u8),
                    2 => packed.add(at).cast::<u16>().write_unaligned(number as u16),
                    4 => packed.add(at).cast::<u32>().write_unaligned(number as u32),
                    _ => packed.add(at).cast::<u64>().write_unaligned(number),
                }
            }
            at += bytes;
        };
        *word = match *kind {
            Kind::Integer { bytes, signed } => {
                put(value.bits, bytes);
                let unused = 64 - 8 * bytes as u32;
                let high = value.bits << unused;
                if signed { (high.cast_signed() >> unused).cast_unsigned() } else { high >> unused }
            }
            Kind::Float { bytes: 4 } => {
                let narrow = f64::from_bits(value.bits) as f32;
                put(narrow.to_bits().into(), 4);
                f64::from(narrow).to_bits()
            }
            Kind::Float { bytes } => {
                put(value.bits, bytes);
                value.bits
            }
            Kind::Text => {
                // SAFETY: this is what was measured, and a NUL.
                unsafe {
                    let start = packed.add(at);
                    start.copy_from_nonoverlapping(value.start().cast(), length);
                    start.add(length).write(0);
                    at += length + 1;
                    start.expose_provenance() as u64
                }
            }
        };
    }
    // SAFETY: `size` bytes are packed now.
    let bytes = unsafe { std::slice::from_raw_parts(packed, size) };
    let event = Packed { bytes, words: &words, largest, ip };
    if slot.is_recorded()
        && let Some(library) = Library::loaded()
    {
        // SAFETY: the slot is a tracepoint that was registered with this library.
        unsafe { event.record(slot, library) };
    }
    if let Some(probe) = shape.probe
        && slot.is_probed()
    {
        // SAFETY: it reads nothing, and a tracer reads the values that the note names.
        unsafe { probe(event.words.as_ptr()) };
    }
    // The compiler cannot see that tracers read them through an address.
    std::hint::black_box(&event);
}

/// An event as sessions get it.
struct Packed<'a> {
    bytes: &'a [u8],
    words: &'a [u64; FIELDS_MAX],
    largest: usize,
    ip: *mut c_void,
}

impl Packed<'_> {
    /// # Safety
    /// The slot was registered with the library.
    unsafe fn record(&self, slot: SlotPointer, library: &Library) {
        // SAFETY: within the RCU section, LTTng-UST keeps the list, its events, and what these point to.
        unsafe {
            (library.lock)();
            let probes = &raw mut (*slot.as_ptr()).tracepoint.probes;
            let mut probe = AtomicPtr::from_ptr(probes).load(Ordering::Acquire);
            while let Some(function) = probe.as_ref().and_then(|probe| probe.func) {
                if function as usize == CALLBACK as usize {
                    self.send((*probe).data.cast());
                }
                probe = probe.add(1);
            }
            (library.unlock)();
        }
    }

    /// As the probes of LTTng's macros do it.
    ///
    /// # Safety
    /// The event belongs to the slot, within an RCU section.
    unsafe fn send(&self, event: *mut lttng_ust_event_common) {
        let mut context =
            lttng_ust_probe_ctx { struct_size: size_of::<lttng_ust_probe_ctx>() as u32, ip: self.ip };
        let stack = self.words.as_ptr().cast::<c_char>();
        // SAFETY: an event's type says what its child is; flags change at any time, and are read once.
        unsafe {
            let recorder = (*event).child.cast::<lttng_ust_event_recorder>();
            let is_recorder = (*event).type_ == lttng_ust_event_type_LTTNG_UST_EVENT_TYPE_RECORDER;
            if (is_recorder && !is_active(recorder)) || (&raw const (*event).enabled).read_volatile() == 0 {
                return;
            }
            if (&raw const (*event).eval_filter).read_volatile() != 0
                && let Some(filter) = (*event).run_filter
                && filter(event, stack, &mut context, null_mut()) != ACCEPTED
            {
                return;
            }
            if is_recorder {
                self.write(recorder, &mut context);
            } else if (*event).type_ == lttng_ust_event_type_LTTNG_UST_EVENT_TYPE_NOTIFIER {
                let notifier = (*event).child.cast::<lttng_ust_event_notifier>();
                let mut notification = lttng_ust_notification_ctx {
                    struct_size: size_of::<lttng_ust_notification_ctx>() as u32,
                    eval_capture: (&raw const (*notifier).eval_capture).read_volatile(),
                };
                if let Some(send) = (*notifier).notification_send {
                    send(notifier, stack, &mut context, &mut notification);
                }
            }
        }
    }

    /// Writes everything with one call.
    ///
    /// # Safety
    /// As for [`send`](Self::send).
    unsafe fn write(&self, recorder: *mut lttng_ust_event_recorder, probe: &mut lttng_ust_probe_ctx) {
        // SAFETY: the operations are those of the recorder's channel, and take what its header says.
        unsafe {
            let operations = &*(*(*recorder).chan).ops;
            let mut context = lttng_ust_ring_buffer_ctx {
                struct_size: size_of::<lttng_ust_ring_buffer_ctx>() as u32,
                client_priv: recorder.cast(),
                data_size: self.bytes.len(),
                largest_align: self.largest as c_int,
                probe_ctx: probe,
                priv_: null_mut(),
            };
            let (Some(reserve), Some(write), Some(commit)) =
                (operations.event_reserve, operations.event_write, operations.event_commit)
            else {
                return;
            };
            if reserve(&mut context) < 0 {
                return;
            }
            if !self.bytes.is_empty() {
                write(&mut context, self.bytes.as_ptr().cast(), self.bytes.len(), self.largest);
            }
            commit(&mut context);
        }
    }
}

const ACCEPTED: c_int = lttng_ust_event_filter_result_LTTNG_UST_EVENT_FILTER_ACCEPT as c_int;

/// # Safety
/// The recorder is LTTng-UST's, within an RCU section.
unsafe fn is_active(recorder: *mut lttng_ust_event_recorder) -> bool {
    // SAFETY: the caller's; both flags change at any time, and are read once.
    unsafe {
        let channel = (*(*recorder).chan).parent;
        (&raw const (*(*channel).session).active).read_volatile() != 0
            && (&raw const (*channel).enabled).read_volatile() != 0
    }
}

/// Room for an event that is too large for the stack.
struct Pages {
    start: *mut u8,
    size: usize,
}

impl Pages {
    fn map(size: usize) -> Option<Pages> {
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping, at no given address.
        let start = unsafe { libc::mmap(null_mut(), size, access, kind, -1, 0) };
        (start != libc::MAP_FAILED).then(|| Pages { start: start.cast(), size })
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this size, and is unmapped once.
        unsafe { libc::munmap(self.start.cast(), self.size) };
    }
}
