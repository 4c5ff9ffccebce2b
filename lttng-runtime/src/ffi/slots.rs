//! Memory for events, where LTTng and USDT tracers both find what they count in.
//!
//! A slot begins as LTTng's tracepoint. Its 32 bits of `state` and the tracer's semaphore, in the padding after them,
//! are one word, which callers load to see whether the event is enabled. Slots never move, and a slot with a tracer
//! attached is not given to another event.

use std::fs::File;
use std::os::fd::{AsRawFd as _, FromRawFd as _};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicPtr, AtomicU16, AtomicU32, AtomicU64, Ordering};

use super::bindings::lttng_ust_tracepoint;
use crate::declaration::{Error, Kind};
use crate::usdt::{EVENTS_MAX, NOTES, PROBES, ProbeFile, SEMAPHORE, SLOT_SIZE, TEXT, function, slot};

/// An event's memory; what C sees of it is in `lttng-runtime.h`.
#[repr(C)]
pub struct Slot {
    pub(super) tracepoint: lttng_ust_tracepoint,
    pub(super) shape: AtomicPtr<Shape>,
}

/// What recording needs to know of an event.
pub(super) struct Shape {
    pub kinds: Box<[Kind]>,
    /// The function that USDT tracers attach to.
    pub probe: Option<unsafe extern "C" fn(*const u64)>,
}

const STATE: usize = std::mem::offset_of!(lttng_ust_tracepoint, state);
// The header and the file of USDT probes rely on it.
const _: () = assert!(size_of::<Slot>() == SLOT_SIZE && STATE == 24 && SEMAPHORE == 28);

/// Where an event is. It is valid until the event's registration is freed.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SlotPointer(NonNull<Slot>);

// SAFETY: threads share slots; what changes in them while an event exists is atomic.
unsafe impl Send for SlotPointer {}
// SAFETY: as above.
unsafe impl Sync for SlotPointer {}

impl SlotPointer {
    pub(super) fn new(slot: *mut Slot) -> Option<SlotPointer> {
        NonNull::new(slot).map(SlotPointer)
    }

    pub(super) fn as_ptr(self) -> *mut Slot {
        self.0.as_ptr()
    }

    /// Whether a session or a tracer wants the event.
    #[inline(always)]
    pub fn is_enabled(self) -> bool {
        self.word::<AtomicU64>(STATE).load(Ordering::Relaxed) != 0
    }

    pub(super) fn is_recorded(self) -> bool {
        self.word::<AtomicU32>(STATE).load(Ordering::Relaxed) != 0
    }

    pub(super) fn is_probed(self) -> bool {
        self.word::<AtomicU16>(SEMAPHORE).load(Ordering::Relaxed) != 0
    }

    #[inline(always)]
    fn word<'a, T>(self, offset: usize) -> &'a T {
        // SAFETY: the slot is valid; the words within it that are asked for are only written atomically.
        unsafe { self.0.cast::<u8>().add(offset).cast::<T>().as_ref() }
    }
}

/// All slots of the process.
pub(crate) struct Slots {
    base: NonNull<u8>,
    probes: Option<ProbeFile>,
    next: u32,
    free: Vec<u32>,
}

// SAFETY: the mapping belongs to the process and not to a thread.
unsafe impl Send for Slots {}

impl Slots {
    /// Maps memory: with USDT probes, or without them where the system has no executable files in memory.
    pub fn new() -> Result<Slots, Error> {
        let probes = memory_file().and_then(|file| ProbeFile::new(file).ok());
        let with_probes = probes.and_then(|probes| Some((map(Some(probes.file()?))?, Some(probes))));
        let (base, probes) = with_probes
            .or_else(|| Some((map(None)?, None)))
            .ok_or_else(|| Error("out of memory for events".to_owned()))?;
        Ok(Slots { base, probes, next: 0, free: Vec::new() })
    }

    /// Takes slots for this number of events.
    pub fn take(&mut self, count: usize) -> Result<Vec<u32>, Error> {
        let idle = |at: &u32| !self.pointer(*at).is_probed();
        let (mut taken, mut kept): (Vec<u32>, Vec<u32>) = self.free.iter().copied().partition(idle);
        kept.extend(taken.split_off(taken.len().min(count)));
        let new = (count - taken.len()) as u32;
        if new > EVENTS_MAX - self.next {
            return Err(Error(format!(
                "more than {EVENTS_MAX} events in this process: free providers that are not needed"
            )));
        }
        taken.extend(self.next..self.next + new);
        self.next += new;
        self.free = kept;
        Ok(taken)
    }

    /// Gives slots back that no event uses any more.
    pub fn give_back(&mut self, slots: Vec<u32>) {
        self.free.extend(slots);
    }

    pub fn pointer(&self, at: u32) -> SlotPointer {
        // SAFETY: all slots are within the mapping.
        SlotPointer(unsafe { self.base.add(slot(at)).cast() })
    }

    /// The function of the slot's probe, if it has one.
    pub fn function(&self, at: u32) -> Option<unsafe extern "C" fn(*const u64)> {
        self.probes.as_ref()?;
        // SAFETY: it is within the mapping; `ProbeFile` wrote code of this type there before the note.
        unsafe {
            let code = self.base.as_ptr().add(function(at));
            Some(std::mem::transmute::<*mut u8, unsafe extern "C" fn(*const u64)>(code))
        }
    }

    /// Shows probes to tracers. If that fails the events have none, which is not an error.
    pub fn show(&mut self, notes: Vec<(u32, Vec<u8>)>) -> bool {
        self.probes.as_mut().is_some_and(|probes| probes.add(notes).is_ok())
    }

    pub fn hide(&mut self, slots: &[u32]) {
        if let Some(probes) = &mut self.probes {
            probes.remove(slots);
        }
    }
}

impl Drop for Slots {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this size, and no event is left.
        unsafe { libc::munmap(self.base.as_ptr().cast(), NOTES) };
    }
}

/// An empty file in memory that tracers find by its descriptor.
fn memory_file() -> Option<File> {
    // SAFETY: the name ends in a NUL, and a valid descriptor is ours.
    unsafe {
        let descriptor = libc::memfd_create(c"lttng-runtime".as_ptr(), libc::MFD_CLOEXEC);
        (descriptor >= 0).then(|| File::from_raw_fd(descriptor))
    }
}

fn map(file: Option<&File>) -> Option<NonNull<u8>> {
    let (kind, descriptor) = match file {
        Some(file) => (libc::MAP_PRIVATE | libc::MAP_NORESERVE, file.as_raw_fd()),
        None => (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE, -1),
    };
    // SAFETY: a new mapping, at no given address.
    let start = unsafe { libc::mmap(std::ptr::null_mut(), NOTES, libc::PROT_READ, kind, descriptor, 0) };
    if start == libc::MAP_FAILED {
        return None;
    }
    let code = if file.is_some() { libc::PROT_EXEC } else { 0 };
    // SAFETY: both parts are within the mapping and start at a page.
    let is_ready = unsafe {
        libc::mprotect(start.add(TEXT), PROBES - TEXT, libc::PROT_READ | code) == 0
            && libc::mprotect(start.add(PROBES), NOTES - PROBES, libc::PROT_READ | libc::PROT_WRITE) == 0
    };
    if !is_ready {
        // SAFETY: it was mapped above, and nothing uses it.
        unsafe { libc::munmap(start, NOTES) };
        return None;
    }
    NonNull::new(start.cast())
}
