//! Events as LTTng-UST wants them described, and their registration.

use std::any::Any;
use std::ffi::{CString, c_char, c_int};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicPtr, Ordering};

use super::bindings::*;
use super::library::Library;
use super::record::{CALLBACK, alignment};
use super::slots::{Shape, SlotPointer, Slots};
use crate::declaration::{Declaration, Error, Field, Kind};
use crate::usdt;

/// Events that were registered together. They can be emitted until it is dropped, and are recorded until they are
/// unregistered.
pub(crate) struct Registration {
    slots: Vec<u32>,
    tracepoints: Box<[*mut lttng_ust_tracepoint]>,
    description: *const lttng_ust_probe_desc,
    /// Null while they are not registered.
    probe: *mut lttng_ust_registered_probe,
    memory: Memory,
}

// SAFETY: all that it points to belongs to it, and is not bound to a thread.
unsafe impl Send for Registration {}

impl Registration {
    /// Takes memory for events, describes them, and shows their probes to USDT tracers.
    pub fn new(slots: &mut Slots, provider: &str, events: &[Declaration]) -> Result<Registration, Error> {
        let taken = slots.take(events.len())?;
        let mut memory = Memory::default();
        let description = memory.describe(provider, events, taken.iter().map(|&at| slots.pointer(at)));
        let notes = taken.iter().zip(events).map(|(&at, event)| {
            (at, usdt::note(at, provider, &event.name, event.fields.iter().map(|field| field.kind)))
        });
        let has_probes = slots.show(notes.collect());
        for (&at, event) in taken.iter().zip(events) {
            let kinds = event.fields.iter().map(|field| field.kind).collect();
            let probe = if has_probes { slots.function(at) } else { None };
            let shape = memory.keep(Shape { kinds, probe });
            // SAFETY: the slot is ours now, and `describe` filled the rest of it.
            unsafe { &(*slots.pointer(at).as_ptr()).shape }.store(shape.cast_mut(), Ordering::Release);
        }
        let tracepoints = taken.iter().map(|&at| slots.pointer(at).as_ptr().cast()).collect();
        Ok(Registration { slots: taken, tracepoints, description, probe: null_mut(), memory })
    }

    /// Registers the events with LTTng-UST, if that is installed.
    pub fn register(&mut self) -> Result<(), Error> {
        let Some(library) = Library::loaded() else { return Ok(()) };
        let count = c_int::try_from(self.tracepoints.len()).unwrap_or(c_int::MAX);
        // SAFETY: description and tracepoints are complete, and stay where they are until they are unregistered.
        unsafe {
            self.probe = (library.register)(self.description);
            if self.probe.is_null() {
                return Err(Error(
                    "the installed LTTng-UST rejects the events: use 2.13 or later".to_owned(),
                ));
            }
            (library.add_tracepoints)(self.tracepoints.as_ptr(), count);
        }
        Ok(())
    }

    /// The handles of the events, in their order.
    pub fn events(&self) -> impl Iterator<Item = SlotPointer> {
        self.tracepoints.iter().filter_map(|tracepoint| SlotPointer::new(tracepoint.cast()))
    }

    /// Hides the probes from USDT tracers that attach from now on.
    pub fn hide(&self, slots: &mut Slots) {
        slots.hide(&self.slots);
    }

    /// After this no session sees the events, and no thread is within LTTng-UST on their behalf.
    pub fn unregister(&mut self) {
        let probe = std::mem::replace(&mut self.probe, null_mut());
        if let Some(library) = Library::loaded()
            && !probe.is_null()
        {
            // SAFETY: both were registered, and are unregistered once. The first waits for all who emit.
            unsafe {
                (library.unregister)(probe);
                (library.remove_tracepoints)(self.tracepoints.as_ptr());
            }
        }
    }

    /// Frees the memory of unregistered events, which nobody may emit any more.
    pub fn free(self, slots: &mut Slots) {
        slots.hide(&self.slots);
        slots.give_back(self.slots);
        drop(self.memory);
    }
}

/// Loads LTTng-UST, whose constructor starts threads, may fork and may wait for a session daemon: so without a lock.
pub(crate) fn load() {
    Library::load();
}

/// What descriptions consist of: values that point to each other and must not move.
#[derive(Default)]
struct Memory(Vec<*mut dyn Any>);

impl Drop for Memory {
    fn drop(&mut self) {
        for value in self.0.drain(..) {
            // SAFETY: `keep` made it from a box, and it is dropped once.
            drop(unsafe { Box::from_raw(value) });
        }
    }
}

fn size<T>() -> u32 {
    size_of::<T>() as u32
}

impl Memory {
    fn keep<T: Any>(&mut self, value: T) -> *const T {
        let value = Box::into_raw(Box::new(value));
        self.0.push(value);
        value
    }

    fn text(&mut self, text: &str) -> *const c_char {
        // Names and what is made from them have no NUL.
        let text = self.keep(CString::new(text).unwrap_or_default());
        // SAFETY: it is kept.
        unsafe { (*text).as_ptr() }
    }

    fn list<T: Any + Copy>(&mut self, values: Vec<T>) -> *const T {
        let list = self.keep(values.into_boxed_slice());
        // SAFETY: it is kept.
        unsafe { (*list).as_ptr() }
    }

    /// Describes a provider, and makes the slots the tracepoints of its events.
    fn describe(
        &mut self,
        provider: &str,
        events: &[Declaration],
        slots: impl Iterator<Item = SlotPointer>,
    ) -> *const lttng_ust_probe_desc {
        let provider_name = self.text(provider);
        let probe_desc = self.keep(lttng_ust_probe_desc {
            struct_size: size::<lttng_ust_probe_desc>(),
            provider_name,
            event_desc: null(),
            nr_events: events.len() as u32,
            major: LTTNG_UST_PROVIDER_MAJOR,
            minor: LTTNG_UST_PROVIDER_MINOR,
        });
        let mut descriptions = Vec::new();
        for (event, slot) in events.iter().zip(slots) {
            let description = self.describe_event(event, probe_desc);
            descriptions.push(description);
            // SAFETY: the description is kept, and so is its class.
            let (event_name, signature) =
                unsafe { ((*description).event_name, (*(*description).tp_class).signature) };
            self.fill(slot, provider_name, event_name, signature);
        }
        let event_desc = self.list(descriptions);
        // SAFETY: it is kept, and nobody else knows it yet.
        unsafe { (*probe_desc.cast_mut()).event_desc = event_desc };
        probe_desc
    }

    fn fill(
        &mut self,
        slot: SlotPointer,
        provider_name: *const c_char,
        event_name: *const c_char,
        signature: *const c_char,
    ) {
        let to = slot.as_ptr();
        // SAFETY: the slot is of no event. Each field is written by itself, because the padding after the state is the
        // semaphore, which a tracer may be changing.
        unsafe {
            (&raw mut (*to).tracepoint.struct_size).write(size::<lttng_ust_tracepoint>());
            (&raw mut (*to).tracepoint.provider_name).write(provider_name);
            (&raw mut (*to).tracepoint.event_name).write(event_name);
            (&raw mut (*to).tracepoint.state).write(0);
            (&raw mut (*to).tracepoint.probes).write(null_mut());
            (&raw mut (*to).tracepoint.tracepoint_provider_ref).write(null_mut());
            (&raw mut (*to).tracepoint.signature).write(signature);
            (&raw mut (*to).shape).write(AtomicPtr::new(null_mut()));
        }
    }

    fn describe_event(
        &mut self,
        event: &Declaration,
        probe_desc: *const lttng_ust_probe_desc,
    ) -> *const lttng_ust_event_desc {
        let fields: Vec<_> = event.fields.iter().map(|field| self.describe_field(field)).collect();
        let nr_fields = fields.len();
        let kinds: Vec<_> = event.fields.iter().map(|field| field.kind).collect();
        // LTTng-UST connects only what has the same signature: no probe of C's macros has one like this.
        let signature = self.text(&format!("lttng-runtime {kinds:?}"));
        let fields = self.list(fields);
        let tp_class = self.keep(lttng_ust_tracepoint_class {
            struct_size: size::<lttng_ust_tracepoint_class>(),
            fields,
            nr_fields,
            probe_callback: Some(CALLBACK),
            signature,
            probe_desc,
        });
        let uri = event.meaning().map(|uri| self.text(&uri));
        let model_emf_uri = uri.map_or(null(), |uri| self.keep(uri));
        let event_name = self.text(&event.name);
        self.keep(lttng_ust_event_desc {
            struct_size: size::<lttng_ust_event_desc>(),
            event_name,
            probe_desc,
            tp_class,
            loglevel: null_mut(),
            model_emf_uri: model_emf_uri.cast_mut(),
        })
    }

    fn describe_field(&mut self, field: &Field) -> *const lttng_ust_event_field {
        let type_ = self.describe_type(field);
        let name = self.text(&field.name);
        self.keep(lttng_ust_event_field {
            struct_size: size::<lttng_ust_event_field>(),
            name,
            type_,
            nowrite_nofilter: 0,
        })
    }

    fn describe_type(&mut self, field: &Field) -> *const lttng_ust_type_common {
        let parent = |type_| lttng_ust_type_common { type_ };
        match field.kind {
            Kind::Integer { bytes, signed } => self
                .keep(lttng_ust_type_integer {
                    parent: parent(lttng_ust_type_lttng_ust_type_integer),
                    struct_size: size::<lttng_ust_type_integer>(),
                    size: 8 * bytes as u32,
                    alignment: 8 * alignment(bytes) as u16,
                    signedness_reverse_byte_order: signed.into(),
                    base: if field.is_hex { 16 } else { 10 },
                })
                .cast(),
            Kind::Float { bytes } => {
                let mantissa = if bytes == 4 { f32::MANTISSA_DIGITS } else { f64::MANTISSA_DIGITS };
                self.keep(lttng_ust_type_float {
                    parent: parent(lttng_ust_type_lttng_ust_type_float),
                    struct_size: size::<lttng_ust_type_float>(),
                    exp_dig: 8 * bytes as u32 - mantissa,
                    mant_dig: mantissa,
                    alignment: 8 * alignment(bytes) as u16,
                    reverse_byte_order: 0,
                })
                .cast()
            }
            Kind::Text => self
                .keep(lttng_ust_type_string {
                    parent: parent(lttng_ust_type_lttng_ust_type_string),
                    struct_size: size::<lttng_ust_type_string>(),
                    encoding: lttng_ust_string_encoding_lttng_ust_string_encoding_UTF8,
                })
                .cast(),
        }
    }
}
