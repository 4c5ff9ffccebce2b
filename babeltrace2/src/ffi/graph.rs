//! A graph that reads one trace.
//!
//! ```text
//!             ┌─ stream ── sink ─┐
//! src.ctf.fs ─┼─ stream ── sink ─┼─> queue
//!             └─ stream ── sink ─┘
//! ```
//!
//! Each stream has a separate sink. Collectors do not need events in the order of time, and this avoids
//! the muxer, which in 2.0 looks at every stream for every message. It also keeps failures apart: a sink
//! whose stream fails ends and leaves the reason, and the others continue.

use std::cell::RefCell;
use std::ffi::{CString, c_void};
use std::os::unix::ffi::OsStrExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::ptr;
use std::rc::Rc;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::bindings::*;
use super::error::{take_error, take_pending_error};
use super::message::Message;

/// The library keeps the component classes of all plugins in one list without a lock: loading a plugin adds to it, and a
/// graph that goes away may take them out. Two threads at once would corrupt it, which shows when the program exits.
static COMPONENT_CLASSES: Mutex<()> = Mutex::new(());

fn lock_component_classes() -> MutexGuard<'static, ()> {
    COMPONENT_CLASSES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The messages of one step, or why a stream failed.
#[derive(Debug, Default)]
struct MessageQueue {
    messages: Vec<Message>,
    stream: usize,
    failure: Option<String>,
}

/// What a sink knows.
struct Sink {
    stream: usize,
    queue: Rc<RefCell<MessageQueue>>,
}

/// What one step brought in addition to messages.
#[derive(Debug)]
pub struct GraphStep {
    /// The number of the stream, dense from 0 within the graph.
    pub stream: usize,
    /// Why the stream ended early, if it did.
    pub failure: Option<String>,
}

/// A graph over the folders of one trace.
pub struct Graph {
    graph: *mut bt_graph,
    queue: Rc<RefCell<MessageQueue>>,
    ended: bool,
    /// The sinks' user data, freed after the graph. Boxed, because the graph holds their addresses.
    #[expect(clippy::vec_box)]
    sinks: Vec<Box<Sink>>,
}

impl Graph {
    /// Opens the folders, which have the same UUID and each hold a `metadata` file.
    pub fn open<P: AsRef<Path>>(folders: &[P]) -> Result<Self, String> {
        // SAFETY: message interchange protocol 0 is known to every version of the library.
        let graph = unsafe { bt_graph_create(0) };
        if graph.is_null() {
            return Err(take_error());
        }
        let mut graph =
            Self { graph, queue: Rc::default(), ended: false, sinks: Vec::with_capacity(folders.len()) };
        let source = graph.add_source(folders)?;
        // SAFETY: the graph owns the source, and so keeps it and its ports alive.
        for stream in 0..unsafe { bt_component_source_get_output_port_count(source) } {
            // SAFETY: as above, and the index is below the count.
            let port = unsafe { bt_component_source_borrow_output_port_by_index_const(source, stream) };
            graph.add_sink(port)?;
        }
        // Running a graph without a sink is forbidden.
        graph.ended = graph.sinks.is_empty();
        Ok(graph)
    }

    /// The number of streams.
    pub fn streams(&self) -> usize {
        self.sinks.len()
    }

    /// Replaces the messages by a stream's next ones. Returns `None` after the last.
    pub fn step(&mut self, messages: &mut Vec<Message>) -> Result<Option<GraphStep>, String> {
        messages.clear();
        while !self.ended {
            // SAFETY: the graph is configured, has a sink, and has not failed: that ends it.
            match unsafe { bt_graph_run_once(self.graph) } {
                BT_GRAPH_RUN_ONCE_STATUS_OK | BT_GRAPH_RUN_ONCE_STATUS_AGAIN => {}
                BT_GRAPH_RUN_ONCE_STATUS_END => self.ended = true,
                _ => {
                    self.ended = true;
                    return Err(take_error());
                }
            }
            let mut queue = self.queue.borrow_mut();
            let failure = queue.failure.take();
            if failure.is_some() || !queue.messages.is_empty() {
                std::mem::swap(messages, &mut queue.messages);
                return Ok(Some(GraphStep { stream: queue.stream, failure }));
            }
        }
        Ok(None)
    }

    /// Adds the source; the graph owns it.
    fn add_source<P: AsRef<Path>>(&mut self, folders: &[P]) -> Result<*const bt_component_source, String> {
        let parameters = Parameters::inputs(folders)?;
        let _locked = lock_component_classes();
        let mut plugin = ptr::null();
        // SAFETY: all arguments are valid; the plugin is put below.
        let found = unsafe { bt_plugin_find(c"ctf".as_ptr(), 1, 1, 1, 1, 0, &mut plugin) };
        if found != BT_PLUGIN_FIND_STATUS_OK {
            // Clears the error, if there is one.
            take_error();
            return Err("Babeltrace 2's plugin `ctf` is not installed".to_owned());
        }
        let mut source = ptr::null();
        // SAFETY: the plugin is valid until it is put; the graph keeps what it needs of it.
        let status = unsafe {
            let class = bt_plugin_borrow_source_component_class_by_name_const(plugin, c"fs".as_ptr());
            let status = if class.is_null() {
                BT_GRAPH_ADD_COMPONENT_STATUS_ERROR
            } else {
                bt_graph_add_source_component(
                    self.graph,
                    class,
                    c"trace".as_ptr(),
                    parameters.0,
                    BT_LOGGING_LEVEL_NONE,
                    &mut source,
                )
            };
            bt_plugin_put_ref(plugin);
            status
        };
        if status == BT_GRAPH_ADD_COMPONENT_STATUS_OK { Ok(source) } else { Err(take_error()) }
    }

    /// Adds a sink and connects it to a stream's port.
    fn add_sink(&mut self, port: *const bt_port_output) -> Result<(), String> {
        let stream = self.sinks.len();
        let name = CString::new(format!("sink {stream}")).map_err(|error| error.to_string())?;
        let mut data = Box::new(Sink { stream, queue: Rc::clone(&self.queue) });
        let address = (&raw mut *data).cast::<c_void>();
        self.sinks.push(data);
        let mut sink = ptr::null();
        // SAFETY: the user data is boxed and outlives the graph (see `drop`).
        let status = unsafe {
            bt_graph_add_simple_sink_component(
                self.graph,
                name.as_ptr(),
                None,
                Some(consume),
                None,
                address,
                &mut sink,
            )
        };
        if status != BT_GRAPH_ADD_COMPONENT_STATUS_OK {
            return Err(take_error());
        }
        // SAFETY: a simple sink has one input port; both ports belong to this graph and are not connected.
        let status = unsafe {
            let input = bt_component_sink_borrow_input_port_by_index_const(sink, 0);
            bt_graph_connect_ports(self.graph, port, input, ptr::null_mut())
        };
        if status == BT_GRAPH_CONNECT_PORTS_STATUS_OK { Ok(()) } else { Err(take_error()) }
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        self.queue.borrow_mut().messages.clear();
        let _locked = lock_component_classes();
        // SAFETY: this is the only reference, and the sinks' user data is freed after this.
        unsafe { bt_graph_put_ref(self.graph) };
    }
}

/// Moves a stream's next messages into the queue.
unsafe extern "C" fn consume(
    iterator: *mut bt_message_iterator,
    data: *mut c_void,
) -> bt_graph_simple_sink_component_consume_func_status {
    let moved = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: the address that `add_sink` gave, of a sink that outlives the graph.
        let sink = unsafe { &*data.cast::<Sink>() };
        let mut queue = sink.queue.borrow_mut();
        queue.stream = sink.stream;
        let (mut messages, mut count) = (ptr::null_mut(), 0);
        // SAFETY: the iterator is the sink's own, and has neither ended nor failed: both end the sink.
        let status = unsafe { bt_message_iterator_next(iterator, &mut messages, &mut count) };
        match status {
            BT_MESSAGE_ITERATOR_NEXT_STATUS_OK => {
                for index in 0..usize::try_from(count).unwrap_or(0) {
                    // SAFETY: the array has `count` messages, whose references are now ours.
                    queue.messages.push(unsafe { Message::from_raw(*messages.add(index)) });
                }
            }
            BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN | BT_MESSAGE_ITERATOR_NEXT_STATUS_END => {}
            _ => queue.failure = Some(take_error()),
        }
        // `src.ctf.fs` of 2.0.4 may fail and yet report success, if it has messages, or the end, if a packet
        // is too short. Its error stays with the thread, where it makes the next call abort the process.
        queue.failure = queue.failure.take().or_else(take_pending_error);
        match status {
            _ if queue.failure.is_some() => BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_END,
            BT_MESSAGE_ITERATOR_NEXT_STATUS_OK => BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_OK,
            BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN => BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_AGAIN,
            _ => BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_END,
        }
    }));
    moved.unwrap_or(BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_ERROR)
}

/// A component's parameters.
struct Parameters(*mut bt_value);

impl Parameters {
    /// `{ inputs: [folder, …] }`
    fn inputs<P: AsRef<Path>>(folders: &[P]) -> Result<Self, String> {
        // SAFETY: makes a map that we own; null is checked below.
        let map = Self(unsafe { bt_value_map_create() });
        if map.0.is_null() {
            return Err(take_error());
        }
        let mut array = ptr::null_mut();
        // SAFETY: the map is valid and owns the array.
        let inserted =
            unsafe { bt_value_map_insert_empty_array_entry(map.0, c"inputs".as_ptr(), &mut array) };
        if inserted != BT_VALUE_MAP_INSERT_ENTRY_STATUS_OK {
            return Err(take_error());
        }
        for folder in folders {
            let folder = CString::new(folder.as_ref().as_os_str().as_bytes())
                .map_err(|_| "a folder's name has a NUL in it".to_owned())?;
            // SAFETY: the array is valid; the string is copied.
            let appended = unsafe { bt_value_array_append_string_element(array, folder.as_ptr()) };
            if appended != BT_VALUE_ARRAY_APPEND_ELEMENT_STATUS_OK {
                return Err(take_error());
            }
        }
        Ok(map)
    }
}

impl Drop for Parameters {
    fn drop(&mut self) {
        // SAFETY: our own reference, or null, which is allowed.
        unsafe { bt_value_put_ref(self.0) };
    }
}
