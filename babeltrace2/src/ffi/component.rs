//! The plugin as Babeltrace 2 finds it: its descriptors, and the methods of its sinks. Those of its source are in `ctf_source`.
//!
//! C plugins collect pointers to descriptors in sections of the file, and export functions that return where these begin and end.
//! Here the pointers are in arrays, which needs no section.

use std::ffi::{CStr, c_void};
use std::ptr;

use super::bindings::*;
use super::error::{take_error, take_pending_error};
use super::graph::{Step, hand_over};
use super::guard::{guarded, initialized};
use super::value::parameters;
use super::{bt, ctf_source};
use crate::plugin::{COMMANDS, Sink};

/// A sink's data: what it has read, and from where.
struct State {
    sink: Option<Sink>,
    iterator: *mut bt_message_iterator,
}

impl Drop for State {
    fn drop(&mut self) {
        if !self.iterator.is_null() {
            // SAFETY: our own reference.
            unsafe { bt().bt_message_iterator_put_ref(self.iterator) };
        }
    }
}

/// The state of a sink.
///
/// # Safety
///
/// The component was initialised by `initialize`, and nothing else has a reference to its state.
unsafe fn state<'a>(component: *mut bt_self_component_sink) -> &'a mut State {
    // SAFETY: the address that `initialize` set; the cast is that of the header's inline function.
    unsafe { &mut *bt().bt_self_component_get_data(component.cast()).cast::<State>() }
}

unsafe extern "C" fn initialize<const COMMAND: usize>(
    component: *mut bt_self_component_sink,
    _: *mut bt_self_component_sink_configuration,
    given: *const bt_value,
    _: *mut c_void,
) -> bt_component_class_initialize_method_status {
    initialized(component.cast(), || {
        let none = ptr::null_mut();
        // SAFETY: the parameters are a map, and the component is being initialised.
        unsafe {
            let sink = Sink::new(COMMANDS[COMMAND].0, parameters(given)?);
            let port =
                bt().bt_self_component_sink_add_input_port(component, c"in".as_ptr(), none, none.cast());
            Ok((port, State { sink: Some(sink), iterator: ptr::null_mut() }))
        }
    })
}

unsafe extern "C" fn graph_is_configured(
    component: *mut bt_self_component_sink,
) -> bt_component_class_sink_graph_is_configured_method_status {
    guarded(component.cast(), BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_ERROR, || {
        // SAFETY: the component has the port that `initialize` added; the iterator's address is that of our state.
        unsafe {
            let port = bt().bt_self_component_sink_borrow_input_port_by_index(component, 0);
            let iterator = &raw mut state(component).iterator;
            match bt().bt_message_iterator_create_from_sink_component(component, port, iterator) {
                BT_MESSAGE_ITERATOR_CREATE_FROM_SINK_COMPONENT_STATUS_OK => {
                    Ok(BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_OK)
                }
                _ => Err(take_error()),
            }
        }
    })
}

unsafe extern "C" fn consume(
    component: *mut bt_self_component_sink,
) -> bt_component_class_sink_consume_method_status {
    guarded(component.cast(), BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_ERROR, || {
        // SAFETY: the component is initialised and configured, and the graph runs one method at a time.
        let State { sink, iterator } = unsafe { state(component) };
        let Some(open) = sink else { return Ok(BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_END) };
        // SAFETY: the iterator is the sink's own; after its end or a failure there is no sink any more.
        let step = unsafe { hand_over(*iterator, &mut |message| open.transcoder.add(message)) };
        match step {
            Ok(Step::Done) => Ok(BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK),
            Ok(Step::Nothing) => Ok(BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_AGAIN),
            Ok(Step::End) => {
                sink.take().map_or(Ok(()), Sink::finish)?;
                Ok(BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_END)
            }
            Err(reason) => {
                *sink = None;
                take_pending_error();
                Err(reason)
            }
        }
    })
}

unsafe extern "C" fn finalize(component: *mut bt_self_component_sink) {
    // SAFETY: the address that `initialize` set, once; nobody uses it after this.
    let state = unsafe { bt().bt_self_component_get_data(component.cast()) }.cast::<State>();
    if !state.is_null() {
        // SAFETY: as above.
        drop(unsafe { Box::from_raw(state) });
    }
}

/// What is constant and has pointers to what is constant.
#[repr(transparent)]
struct Constant<T>(T);

// SAFETY: nobody writes to it.
unsafe impl<T> Sync for Constant<T> {}

static PLUGIN: Constant<__bt_plugin_descriptor> =
    Constant(__bt_plugin_descriptor { name: c"ltt-top".as_ptr() });

static ABOUT: [Constant<__bt_plugin_descriptor_attribute>; 2] = {
    type Value = __bt_plugin_descriptor_attribute__bindgen_ty_1;
    let description = c"What was slow, why, who waited and what helps";
    [
        Constant(__bt_plugin_descriptor_attribute {
            plugin_descriptor: &raw const PLUGIN.0,
            type_name: c"description".as_ptr(),
            type_: BT_PLUGIN_DESCRIPTOR_ATTRIBUTE_TYPE_DESCRIPTION,
            value: Value { description: description.as_ptr() },
        }),
        Constant(__bt_plugin_descriptor_attribute {
            plugin_descriptor: &raw const PLUGIN.0,
            type_name: c"license".as_ptr(),
            type_: BT_PLUGIN_DESCRIPTOR_ATTRIBUTE_TYPE_LICENSE,
            value: Value { license: c"MIT OR Apache-2.0".as_ptr() },
        }),
    ]
};

static COMPONENTS: [Constant<__bt_plugin_component_class_descriptor>; COMMANDS.len() + 1] = {
    use __bt_plugin_component_class_descriptor__bindgen_ty_1 as Methods;
    use __bt_plugin_component_class_descriptor__bindgen_ty_1__bindgen_ty_1 as Source;
    use __bt_plugin_component_class_descriptor__bindgen_ty_1__bindgen_ty_3 as Sink;
    const fn component(
        name: &'static CStr,
        type_: bt_component_class_type,
        methods: Methods,
    ) -> Constant<__bt_plugin_component_class_descriptor> {
        Constant(__bt_plugin_component_class_descriptor {
            plugin_descriptor: &raw const PLUGIN.0,
            name: name.as_ptr(),
            type_,
            methods,
        })
    }
    const fn sink(command: usize) -> Constant<__bt_plugin_component_class_descriptor> {
        let methods = Methods { sink: Sink { consume: Some(consume) } };
        component(COMMANDS[command].0, BT_COMPONENT_CLASS_TYPE_SINK, methods)
    }
    let source = Methods { source: Source { msg_iter_next: Some(ctf_source::next) } };
    [sink(0), sink(1), sink(2), sink(3), component(c"ctf", BT_COMPONENT_CLASS_TYPE_SOURCE, source)]
};

const HELP: &CStr =
    c"Parameters are the options of the command of ltt-top (see ltt-top COMMAND --help): limit=5, \
    format=\"json\", all=yes, event=[\"a\", \"b\"]. `program` names ltt-top if it is not in PATH.";

type Attribute = Constant<__bt_plugin_component_class_descriptor_attribute>;

/// What components have beside their names.
static ATTRIBUTES: [[Attribute; 6]; COMPONENTS.len()] = {
    use __bt_plugin_component_class_descriptor_attribute__bindgen_ty_1 as Value;
    use BT_PLUGIN_COMPONENT_CLASS_DESCRIPTOR_ATTRIBUTE_TYPE_DESCRIPTION as DESCRIPTION;
    use BT_PLUGIN_COMPONENT_CLASS_DESCRIPTOR_ATTRIBUTE_TYPE_FINALIZE_METHOD as FINALIZE;
    use BT_PLUGIN_COMPONENT_CLASS_DESCRIPTOR_ATTRIBUTE_TYPE_GRAPH_IS_CONFIGURED_METHOD as CONFIGURED;
    use BT_PLUGIN_COMPONENT_CLASS_DESCRIPTOR_ATTRIBUTE_TYPE_HELP as TYPE_HELP;
    use BT_PLUGIN_COMPONENT_CLASS_DESCRIPTOR_ATTRIBUTE_TYPE_INITIALIZE_METHOD as INITIALIZE;
    use BT_PLUGIN_COMPONENT_CLASS_DESCRIPTOR_ATTRIBUTE_TYPE_MSG_ITER_FINALIZE_METHOD as END;
    use BT_PLUGIN_COMPONENT_CLASS_DESCRIPTOR_ATTRIBUTE_TYPE_MSG_ITER_INITIALIZE_METHOD as BEGIN;
    const fn attribute(
        component: usize,
        type_: __bt_plugin_component_class_descriptor_attribute_type,
        name: &'static CStr,
        value: Value,
    ) -> Attribute {
        Constant(__bt_plugin_component_class_descriptor_attribute {
            comp_class_descriptor: &raw const COMPONENTS[component].0,
            type_name: name.as_ptr(),
            type_,
            value,
        })
    }
    const fn sink<const COMMAND: usize>() -> [Attribute; 6] {
        let description = Value { description: COMMANDS[COMMAND].1.as_ptr() };
        let (initialize, configured) = (Some(initialize::<COMMAND> as _), Some(graph_is_configured as _));
        let configured = Value { sink_graph_is_configured_method: configured };
        [
            attribute(COMMAND, DESCRIPTION, c"description", description),
            attribute(COMMAND, TYPE_HELP, c"help", Value { help: HELP.as_ptr() }),
            attribute(COMMAND, INITIALIZE, c"initialize", Value { sink_initialize_method: initialize }),
            attribute(COMMAND, FINALIZE, c"finalize", Value { sink_finalize_method: Some(finalize) }),
            attribute(COMMAND, CONFIGURED, c"configured", configured),
            // The source has one more; what is said twice is the same.
            attribute(COMMAND, DESCRIPTION, c"description", description),
        ]
    }
    const SOURCE: usize = COMMANDS.len();
    let (initialize, finalize) = (Some(ctf_source::initialize as _), Some(ctf_source::finalize as _));
    let (begin, end) = (Some(ctf_source::begin as _), Some(ctf_source::end as _));
    let description = Value { description: ctf_source::DESCRIPTION.as_ptr() };
    let source = [
        attribute(SOURCE, DESCRIPTION, c"description", description),
        attribute(SOURCE, TYPE_HELP, c"help", Value { help: ctf_source::HELP.as_ptr() }),
        attribute(SOURCE, INITIALIZE, c"initialize", Value { source_initialize_method: initialize }),
        attribute(SOURCE, FINALIZE, c"finalize", Value { source_finalize_method: finalize }),
        attribute(SOURCE, BEGIN, c"iterator begins", Value { msg_iter_initialize_method: begin }),
        attribute(SOURCE, END, c"iterator ends", Value { msg_iter_finalize_method: end }),
    ];
    [sink::<0>(), sink::<1>(), sink::<2>(), sink::<3>(), source]
};

/// Exports the addresses of what an index leads to, as Babeltrace looks for them: two functions, which return where an array of
/// them begins and ends.
macro_rules! section {
    ($begin:ident, $end:ident, $type:ty, $count:expr, $index:ident => $element:expr) => {
        const _: () = {
            static POINTERS: Constant<[*const $type; $count]> = {
                let (mut pointers, mut $index) = ([ptr::null(); $count], 0);
                while $index < $count {
                    pointers[$index] = &raw const $element.0;
                    $index += 1;
                }
                Constant(pointers)
            };

            // SAFETY: only Babeltrace knows these names, and looks them up in this file alone.
            #[unsafe(no_mangle)]
            extern "C" fn $begin() -> *const *const $type {
                POINTERS.0.as_ptr_range().start
            }

            // SAFETY: as above.
            #[unsafe(no_mangle)]
            extern "C" fn $end() -> *const *const $type {
                POINTERS.0.as_ptr_range().end
            }
        };
    };
}

section!(
    __bt_get_begin_section_plugin_descriptors,
    __bt_get_end_section_plugin_descriptors,
    __bt_plugin_descriptor, 1, index => [&PLUGIN][index]
);
section!(
    __bt_get_begin_section_plugin_descriptor_attributes,
    __bt_get_end_section_plugin_descriptor_attributes,
    __bt_plugin_descriptor_attribute, 2, index => ABOUT[index]
);
section!(
    __bt_get_begin_section_component_class_descriptors,
    __bt_get_end_section_component_class_descriptors,
    __bt_plugin_component_class_descriptor, COMPONENTS.len(), index => COMPONENTS[index]
);
section!(
    __bt_get_begin_section_component_class_descriptor_attributes,
    __bt_get_end_section_component_class_descriptor_attributes,
    __bt_plugin_component_class_descriptor_attribute, 6 * COMPONENTS.len(), index => ATTRIBUTES[index / 6][index % 6]
);
