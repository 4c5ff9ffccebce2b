//! `source.ltt-top.ctf`: what our reader reads, for any graph.
//!
//! Babeltrace wants the classes of fields before their values, the reader tells types with values. So an event class of Babeltrace
//! is made for each form that the values of a class have: one, unless there are variants, or lists of lists.

use std::collections::VecDeque;
use std::ffi::{CStr, c_void};
use std::ptr;

use ctf_reader::{FieldKind, InOrder, OrderedEvent, Reader, Scope, Step, Trace, Wanted, Window};
use serde_json::Value;

use super::bindings::*;
use super::error::made;
use super::guard::{guarded, initialized};
use super::make::{add_form, event_class, set};
use super::value::parameters;
use super::{bt, c_text};
use crate::parameters::spelled;

pub const DESCRIPTION: &CStr = c"Reads CTF 1.8 and 2 with the reader of ltt-top";
pub const HELP: &CStr = c"inputs=[\"PATH\", ...]: folders with traces, or archives of them.";

pub unsafe extern "C" fn initialize(
    component: *mut bt_self_component_source,
    _: *mut bt_self_component_source_configuration,
    given: *const bt_value,
    _: *mut c_void,
) -> bt_component_class_initialize_method_status {
    initialized(component.cast(), || {
        let none = ptr::null_mut();
        // SAFETY: the parameters are a map, and the component is being initialised.
        unsafe {
            let mut inputs = Vec::new();
            for (name, value) in parameters(given)? {
                match (name.as_str(), value) {
                    ("inputs", Value::Array(values)) => inputs.extend(values.iter().map(spelled)),
                    ("inputs", value) => inputs.push(spelled(&value)),
                    _ => return Err(format!("unknown parameter `{name}`: `inputs` names the traces")),
                }
            }
            let reader = Reader::open(&inputs).map_err(|error| error.to_string())?;
            let port =
                bt().bt_self_component_source_add_output_port(component, c"out".as_ptr(), none, none.cast());
            Ok((port, reader))
        }
    })
}

pub unsafe extern "C" fn finalize(component: *mut bt_self_component_source) {
    // SAFETY: the address that `initialize` set, once; the iterators are gone.
    drop(unsafe { Box::from_raw(bt().bt_self_component_get_data(component.cast()).cast::<Reader>()) });
}

pub unsafe extern "C" fn begin(
    iterator: *mut bt_self_message_iterator,
    _: *mut bt_self_message_iterator_configuration,
    _: *mut bt_self_component_port_output,
) -> bt_message_iterator_class_initialize_method_status {
    // SAFETY: an iterator has a component, which was initialised, and outlives it.
    unsafe {
        let component = bt().bt_self_message_iterator_borrow_component(iterator);
        guarded(component, BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_ERROR, || {
            let reader: &'static Reader = &*bt().bt_self_component_get_data(component).cast();
            let events = reader.in_order(Window::default(), |class| {
                let mut wanted = Wanted::of(class);
                let fields = class.fields.iter().enumerate();
                // Those of the environment are the trace's.
                let own = fields.filter(|(_, field)| field.scope != Scope::Environment);
                own.for_each(|(index, _)| _ = wanted.value_at(index));
                Some(wanted)
            });
            let messages = Messages::new(iterator, component, &events.report().traces)?;
            let iteration = Box::new(Iteration { events, messages, is_ended: false });
            bt().bt_self_message_iterator_set_data(iterator, Box::into_raw(iteration).cast());
            Ok(BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_OK)
        })
    }
}

pub unsafe extern "C" fn end(iterator: *mut bt_self_message_iterator) {
    // SAFETY: the address that `begin` set, once; nobody uses it after this.
    drop(unsafe { Box::from_raw(bt().bt_self_message_iterator_get_data(iterator).cast::<Iteration>()) });
}

pub unsafe extern "C" fn next(
    iterator: *mut bt_self_message_iterator,
    into: *mut *const bt_message,
    capacity: u64,
    count: *mut u64,
) -> bt_message_iterator_class_next_method_status {
    // SAFETY: the address that `begin` set, of what nothing else has a reference to; the array has that capacity.
    unsafe {
        let component = bt().bt_self_message_iterator_borrow_component(iterator);
        guarded(component, BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_ERROR, || {
            let iteration = &mut *bt().bt_self_message_iterator_get_data(iterator).cast::<Iteration>();
            let capacity = usize::try_from(capacity).unwrap_or(1);
            while iteration.messages.ready.len() < capacity && !iteration.is_ended {
                iteration.advance()?;
            }
            let ready = &mut iteration.messages.ready;
            let taken = ready.len().min(capacity);
            for (index, message) in ready.drain(..taken).enumerate() {
                *into.add(index) = message;
            }
            *count = taken as u64;
            Ok(match taken {
                0 => BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_END,
                _ => BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK,
            })
        })
    }
}

struct Iteration {
    events: InOrder<'static>,
    messages: Messages,
    is_ended: bool,
}

impl Iteration {
    fn advance(&mut self) -> Result<(), String> {
        if let Step::Event(event) = self.events.next_event() {
            return self.messages.event(&event);
        }
        self.is_ended = true;
        let report = self.events.report();
        for damage in &report.damage {
            eprintln!("ltt-top: left out: {damage}");
        }
        self.messages.end(report.discarded_events, report.lost_packets)
    }
}

/// Makes messages of events.
struct Messages {
    iterator: *mut bt_self_message_iterator,
    clock: *mut bt_clock_class,
    traces: Vec<*mut bt_trace>,
    /// Those that have begun, at their numbers.
    streams: Vec<Option<Stream>>,
    ready: VecDeque<*const bt_message>,
    last: u64,
}

/// A stream. References to it and to its classes are kept: the library takes those of messages only on top of another.
struct Stream {
    stream: *mut bt_stream,
    /// The classes of its events, at their numbers, by the form of their values where they have several.
    classes: Vec<Vec<(Vec<usize>, *mut bt_event_class)>>,
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: our own references.
        unsafe {
            let classes = self.classes.iter().flatten();
            classes.for_each(|(_, class)| bt().bt_event_class_put_ref(*class));
            bt().bt_stream_put_ref(self.stream);
        }
    }
}

impl Messages {
    /// # Safety
    ///
    /// Both are alive for as long as this is.
    unsafe fn new(
        iterator: *mut bt_self_message_iterator,
        component: *mut bt_self_component,
        traces: &[Trace],
    ) -> Result<Self, String> {
        // SAFETY: the caller vouches for the component; texts are copied.
        unsafe {
            // Of nanoseconds since 1970, unless another is set.
            let clock = made(bt().bt_clock_class_create(component))?;
            let (streams, ready) = (Vec::new(), VecDeque::new());
            let mut messages = Messages { iterator, clock, traces: Vec::new(), streams, ready, last: 0 };
            for trace in traces {
                let class = made(bt().bt_trace_class_create(component))?;
                let made_trace = bt().bt_trace_create(class);
                bt().bt_trace_class_put_ref(class);
                let made_trace = made(made_trace)?;
                messages.traces.push(made_trace);
                if let Some(uuid) = &trace.uuid {
                    bt().bt_trace_set_uuid(made_trace, uuid.0.as_ptr());
                }
                for (name, value) in &trace.environment {
                    let (name, text) = (c_text(name), c_text(value));
                    match value.parse() {
                        Ok(number) => {
                            bt().bt_trace_set_environment_entry_integer(made_trace, name.as_ptr(), number)
                        }
                        Err(_) => bt().bt_trace_set_environment_entry_string(
                            made_trace,
                            name.as_ptr(),
                            text.as_ptr(),
                        ),
                    };
                }
            }
            Ok(messages)
        }
    }

    fn event(&mut self, event: &OrderedEvent<'_>) -> Result<(), String> {
        let class = event.class();
        // SAFETY: classes and streams are alive; a field has the class that was made for its value.
        unsafe {
            if self.streams.get(event.stream()).is_none_or(Option::is_none) {
                self.begin(event.stream(), class.trace)?;
            }
            let Some(Some(Stream { stream, classes })) = self.streams.get_mut(event.stream()) else {
                return Ok(());
            };
            let mut form = Vec::new();
            for (field, value) in event.fields() {
                if field.kind == FieldKind::Compound {
                    add_form(&value, &mut form);
                }
            }
            if classes.len() <= class.index {
                classes.resize_with(class.index + 1, Vec::new);
            }
            let forms = &mut classes[class.index];
            let made_class = match forms.iter().find(|(known, _)| *known == form) {
                Some((_, made)) => *made,
                None => {
                    let made = event_class(*stream, event)?;
                    forms.push((form, made));
                    made
                }
            };
            // A clock that was set back in the middle of a packet: a graph takes no step back.
            self.last = self.last.max(u64::try_from(event.timestamp()).unwrap_or(0));
            let message = made(bt().bt_message_event_create_with_default_clock_snapshot(
                self.iterator,
                made_class,
                *stream,
                self.last,
            ))?;
            self.ready.push_back(message);
            let of = bt().bt_message_event_borrow_event(message);
            let (context, payload) =
                (bt().bt_event_borrow_specific_context_field(of), bt().bt_event_borrow_payload_field(of));
            let mut counts = [0, 0];
            for (class, value) in event.fields() {
                let is_payload = class.scope == Scope::Payload;
                let (parent, place) =
                    (if is_payload { payload } else { context }, &mut counts[usize::from(is_payload)]);
                let field = bt().bt_field_structure_borrow_member_field_by_index(parent, *place);
                *place += 1;
                set(field, &value);
            }
        }
        Ok(())
    }

    /// # Safety
    ///
    /// The stream has not begun.
    unsafe fn begin(&mut self, number: usize, trace: usize) -> Result<(), String> {
        // SAFETY: the trace is alive.
        unsafe {
            let trace = self.traces[trace];
            let class = made(bt().bt_stream_class_create(bt().bt_trace_borrow_class(trace)))?;
            bt().bt_stream_class_set_default_clock_class(class, self.clock);
            bt().bt_stream_class_set_supports_discarded_events(class, 1, 0);
            let stream = bt().bt_stream_create(class, trace);
            bt().bt_stream_class_put_ref(class);
            let stream = Stream { stream: made(stream)?, classes: Vec::new() };
            let begins = bt().bt_message_stream_beginning_create(self.iterator, stream.stream);
            self.ready.push_back(made(begins)?);
            if self.streams.len() <= number {
                self.streams.resize_with(number + 1, || None);
            }
            self.streams[number] = Some(stream);
        }
        Ok(())
    }

    /// Ends all streams; the first tells what was lost: the reader counts that for all of them.
    fn end(&mut self, lost_events: u64, lost_packets: u64) -> Result<(), String> {
        let mut lost = lost_events > 0 || lost_packets > 0;
        for Stream { stream, .. } in self.streams.iter().flatten() {
            // SAFETY: the stream has begun, and supports lost events.
            unsafe {
                if std::mem::take(&mut lost) {
                    let message = made(bt().bt_message_discarded_events_create(self.iterator, *stream))?;
                    // Of lost packets it is not known how many events they had.
                    if lost_packets == 0 {
                        bt().bt_message_discarded_events_set_count(message, lost_events);
                    }
                    self.ready.push_back(message);
                }
                self.ready.push_back(made(bt().bt_message_stream_end_create(self.iterator, *stream))?);
            }
        }
        Ok(())
    }
}

impl Drop for Messages {
    fn drop(&mut self) {
        // SAFETY: our own references.
        unsafe {
            self.ready.iter().for_each(|message| bt().bt_message_put_ref(*message));
            self.traces.iter().for_each(|trace| bt().bt_trace_put_ref(*trace));
            bt().bt_clock_class_put_ref(self.clock);
        }
    }
}
