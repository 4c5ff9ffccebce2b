//! A graph of components, and what it hands to a sink of ours.
//!
//! ```text
//!          ┌─ port ── sink ─┐
//! source ──┼─ port ── sink ─┼─> one consumer
//!          └─ port ── sink ─┘
//! ```
//!
//! Each port has a sink, and the streams stay apart: the merge in the order of time is the reader's, and the muxer of 2.0 would
//! look at every stream for every message.

use std::cell::RefCell;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::rc::Rc;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use super::bindings::*;
use super::error::{made, take_error, take_pending_error};
use super::message::{Message, OwnedMessage};
use super::value::Owned;
use super::{bt, c_text, load};

/// The library keeps the component classes of all plugins in one list without a lock: loading a plugin adds to it, and a
/// graph that goes away may take them out.
static COMPONENT_CLASSES: Mutex<()> = Mutex::new(());

fn lock_component_classes() -> MutexGuard<'static, ()> {
    COMPONENT_CLASSES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Gets every message; an error ends the graph.
pub type Consumer<'c> = dyn FnMut(&Message<'_>) -> Result<(), String> + 'c;

/// What the sinks of a graph share.
struct Shared<'c> {
    consumer: Box<Consumer<'c>>,
    failure: Option<String>,
}

/// A graph.
pub struct Graph<'c> {
    graph: *mut bt_graph,
    sinks: u64,
    /// The sinks' user data: the graph holds its address, and is gone before it.
    shared: Rc<RefCell<Shared<'c>>>,
}

impl<'c> Graph<'c> {
    /// A source of a plugin's class, with all of its ports connected to a consumer.
    pub fn new(
        plugin: &str,
        class: &str,
        parameters: &[(String, Value)],
        consumer: Box<Consumer<'c>>,
    ) -> Result<Self, String> {
        load()?;
        let shared = Rc::new(RefCell::new(Shared { consumer, failure: None }));
        // SAFETY: message interchange protocol 0 is known to every version of the library.
        let graph = made(unsafe { bt().bt_graph_create(0) })?;
        let mut graph = Graph { graph, sinks: 0, shared };
        let source = graph.source(plugin, class, &Owned::map(parameters)?)?;
        // SAFETY: the graph owns the source, and so keeps it and its ports alive; indexes are below the count.
        unsafe {
            while graph.sinks < bt().bt_component_source_get_output_port_count(source) {
                graph.connect(
                    bt().bt_component_source_borrow_output_port_by_index_const(source, graph.sinks),
                )?;
            }
        }
        Ok(graph)
    }

    /// Runs for one step.
    pub fn step(&mut self) -> Result<Step, String> {
        // A source may have nothing to say, and running a graph without a sink is forbidden.
        if self.sinks == 0 {
            return Ok(Step::End);
        }
        // SAFETY: the graph is configured, has a sink, and has not failed: the caller stops then.
        let status = unsafe { bt().bt_graph_run_once(self.graph) };
        if let Some(failure) = self.shared.borrow_mut().failure.take() {
            // The library's own words for it.
            take_pending_error();
            return Err(failure);
        }
        match status {
            BT_GRAPH_RUN_ONCE_STATUS_OK => Ok(Step::Done),
            BT_GRAPH_RUN_ONCE_STATUS_AGAIN => Ok(Step::Nothing),
            BT_GRAPH_RUN_ONCE_STATUS_END => Ok(Step::End),
            _ => Err(take_error()),
        }
    }

    /// Adds the source; the graph owns it.
    fn source(
        &mut self,
        plugin_name: &str,
        class_name: &str,
        parameters: &Owned,
    ) -> Result<*const bt_component_source, String> {
        let (plugin_text, class_text) = (c_text(plugin_name), c_text(class_name));
        let _locked = lock_component_classes();
        let mut plugin = ptr::null();
        // SAFETY: all arguments are valid; the plugin is put below.
        let found = unsafe { bt().bt_plugin_find(plugin_text.as_ptr(), 1, 1, 1, 1, 0, &mut plugin) };
        if found != BT_PLUGIN_FIND_STATUS_OK {
            // Clears the error, if there is one.
            take_pending_error();
            return Err(format!(
                "Babeltrace 2 has no plugin `{plugin_name}`: `babeltrace2 list-plugins` lists those it has, and \
                 BABELTRACE_PLUGIN_PATH says where it looks"
            ));
        }
        let mut source = ptr::null();
        // SAFETY: the plugin is valid until it is put; the graph keeps what it needs of it.
        let status = unsafe {
            let class =
                bt().bt_plugin_borrow_source_component_class_by_name_const(plugin, class_text.as_ptr());
            let status = (!class.is_null()).then(|| {
                bt().bt_graph_add_source_component(
                    self.graph,
                    class,
                    c"source".as_ptr(),
                    parameters.as_ptr(),
                    BT_LOGGING_LEVEL_NONE,
                    &mut source,
                )
            });
            bt().bt_plugin_put_ref(plugin);
            status
        };
        match status {
            Some(BT_GRAPH_ADD_COMPONENT_STATUS_OK) => Ok(source),
            Some(_) => Err(take_error()),
            None => Err(format!("Babeltrace 2's plugin `{plugin_name}` has no source `{class_name}`")),
        }
    }

    /// Adds a sink and connects it to a port.
    fn connect(&mut self, port: *const bt_port_output) -> Result<(), String> {
        let name = c_text(&format!("sink {}", self.sinks));
        self.sinks += 1;
        let address = Rc::as_ptr(&self.shared).cast_mut().cast::<c_void>();
        let mut sink = ptr::null();
        // SAFETY: the user data outlives the graph (see `drop`).
        let status = unsafe {
            bt().bt_graph_add_simple_sink_component(
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
            let input = bt().bt_component_sink_borrow_input_port_by_index_const(sink, 0);
            bt().bt_graph_connect_ports(self.graph, port, input, ptr::null_mut())
        };
        if status == BT_GRAPH_CONNECT_PORTS_STATUS_OK { Ok(()) } else { Err(take_error()) }
    }
}

/// What a step of a graph brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Messages.
    Done,
    /// Nothing yet: a source waits for something.
    Nothing,
    /// There is no more.
    End,
}

impl Drop for Graph<'_> {
    fn drop(&mut self) {
        let _locked = lock_component_classes();
        // SAFETY: this is the only reference, and the sinks' user data goes after it.
        unsafe { bt().bt_graph_put_ref(self.graph) };
    }
}

/// Hands a port's next messages to the consumer.
unsafe extern "C" fn consume(
    iterator: *mut bt_message_iterator,
    data: *mut c_void,
) -> bt_graph_simple_sink_component_consume_func_status {
    let handed = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: the address that `connect` gave, of what outlives the graph.
        let shared = unsafe { &*data.cast::<RefCell<Shared<'_>>>() };
        let Shared { consumer, failure } = &mut *shared.borrow_mut();
        // SAFETY: the iterator is the sink's own, and has neither ended nor failed: both end the sink.
        match unsafe { hand_over(iterator, consumer) } {
            Ok(Step::Done) => BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_OK,
            Ok(Step::Nothing) => BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_AGAIN,
            Ok(Step::End) => BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_END,
            Err(reason) => {
                *failure = Some(reason);
                BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_ERROR
            }
        }
    }));
    handed.unwrap_or(BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_ERROR)
}

/// Hands an iterator's next messages to a consumer.
///
/// # Safety
///
/// The iterator is a sink's own, and has neither ended nor failed.
pub(super) unsafe fn hand_over(
    iterator: *mut bt_message_iterator,
    consumer: &mut Consumer<'_>,
) -> Result<Step, String> {
    let (mut messages, mut count) = (ptr::null_mut(), 0);
    // SAFETY: the caller vouches for the iterator.
    let status = unsafe { bt().bt_message_iterator_next(iterator, &mut messages, &mut count) };
    let step = match status {
        BT_MESSAGE_ITERATOR_NEXT_STATUS_OK => {
            // All are ours from now on, also those after one that fails.
            let owned: Vec<OwnedMessage> = (0..usize::try_from(count).unwrap_or(0))
                // SAFETY: the array has `count` messages, whose references are handed over.
                .map(|index| OwnedMessage(unsafe { *messages.add(index) }))
                .collect();
            owned.iter().filter_map(OwnedMessage::view).try_for_each(|message| consumer(&message))?;
            Step::Done
        }
        BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN => Step::Nothing,
        BT_MESSAGE_ITERATOR_NEXT_STATUS_END => Step::End,
        _ => return Err(take_error()),
    };
    // `src.ctf.fs` of 2.0.4 may fail and yet report success or the end. Its error stays with the thread, where it would make the
    // next call abort the process.
    match take_pending_error() {
        Some(error) => Err(error),
        None => Ok(step),
    }
}
