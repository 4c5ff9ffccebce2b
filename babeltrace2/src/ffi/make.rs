//! Classes and fields of Babeltrace for what our reader reads.

use std::collections::HashSet;
use std::ffi::c_char;
use std::ptr;

use ctf_reader::{Base, Enumeration, Integer, List, OrderedEvent, Scope, Value};

use super::bindings::*;
use super::error::made;
use super::{bt, c_text};

/// Makes the class of an event, which is the caller's; all of its contexts are members of one.
///
/// # Safety
///
/// The stream is alive.
pub unsafe fn event_class(
    stream: *mut bt_stream,
    event: &OrderedEvent<'_>,
) -> Result<*mut bt_event_class, String> {
    let class = event.class();
    // SAFETY: the stream is alive and has a class; texts are copied.
    unsafe {
        let of_stream = bt().bt_stream_borrow_class(stream);
        let of_trace = bt().bt_stream_class_borrow_trace_class(of_stream);
        let made_class = made(bt().bt_event_class_create(of_stream))?;
        bt().bt_event_class_set_name(made_class, c_text(&class.name).as_ptr());
        if let Some(level @ 0..=14) = class.log_level {
            bt().bt_event_class_set_log_level(made_class, bt_event_class_log_level(level as u32));
        }
        if let Some(uri) = &class.model_uri {
            bt().bt_event_class_set_emf_uri(made_class, c_text(uri).as_ptr());
        }
        let in_scope = |is_payload: bool| {
            let members =
                event.fields().filter(move |(field, _)| (field.scope == Scope::Payload) == is_payload);
            let members = members.map(|(field, value)| (field.name.to_string(), value, field.base));
            structure(of_trace, members)
        };
        bt().bt_event_class_set_specific_context_field_class(made_class, in_scope(false)?.0);
        bt().bt_event_class_set_payload_field_class(made_class, in_scope(true)?.0);
        Ok(made_class)
    }
}

/// Appends what tells the form of a value from others of its type.
pub fn add_form(value: &Value<'_>, form: &mut Vec<usize>) {
    match value {
        Value::Struct(members) => {
            form.push(members.len());
            for (name, member) in members {
                form.push(name.as_ptr().addr());
                add_form(member, form);
            }
        }
        Value::List(list) => {
            let told = if is_uniform(list) { list.elements.len().min(1) } else { list.elements.len() };
            form.push(told);
            list.elements[..told].iter().for_each(|element| add_form(element, form));
        }
        Value::Enum(_, labels) => form.push(ptr::from_ref(*labels).addr()),
        _ => form.push(0),
    }
}

/// Whether all elements have one form, so that one class is enough: what is not a compound has the form of its type.
fn is_uniform(list: &List<'_>) -> bool {
    let form = |value| {
        let mut form = Vec::new();
        add_form(value, &mut form);
        form
    };
    match list.elements.first() {
        Some(first @ (Value::List(_) | Value::Struct(_))) => {
            let first = form(first);
            list.elements.iter().all(|element| form(element) == first)
        }
        _ => true,
    }
}

/// A class of fields that is ours.
struct Class(*mut bt_field_class);

impl Drop for Class {
    fn drop(&mut self) {
        // SAFETY: our own reference.
        unsafe { bt().bt_field_class_put_ref(self.0) };
    }
}

/// Makes the class of a structure with these members.
///
/// # Safety
///
/// The trace class is alive. Likewise below.
unsafe fn structure<'a>(
    of: *mut bt_trace_class,
    members: impl IntoIterator<Item = (String, Value<'a>, Base)>,
) -> Result<Class, String> {
    let mut names = HashSet::new();
    // SAFETY: the structure takes a reference to the member, and copies the name, which it does not have yet.
    unsafe {
        let structure = Class(made(bt().bt_field_class_structure_create(of))?);
        for (mut name, value, base) in members {
            while !names.insert(name.clone()) {
                name.push('_');
            }
            let class = field_class(of, &value, base)?;
            bt().bt_field_class_structure_append_member(structure.0, c_text(&name).as_ptr(), class.0);
        }
        Ok(structure)
    }
}

unsafe fn field_class(of: *mut bt_trace_class, value: &Value<'_>, base: Base) -> Result<Class, String> {
    // SAFETY: the caller vouches for the trace class; a base is set for integers alone.
    unsafe {
        let class = match value {
            Value::Unsigned(_) => bt().bt_field_class_integer_unsigned_create(of),
            Value::Signed(_) => bt().bt_field_class_integer_signed_create(of),
            Value::Enum(kind, labels) => return enumeration(of, *kind, labels),
            Value::Float(_) => bt().bt_field_class_real_double_precision_create(of),
            Value::Bool(_) => bt().bt_field_class_bool_create(of),
            Value::Text(_) => bt().bt_field_class_string_create(of),
            Value::List(list) if is_uniform(list) => {
                let element = field_class(of, list.elements.first().unwrap_or(&Value::Unsigned(0)), base)?;
                bt().bt_field_class_array_dynamic_create(of, element.0, ptr::null_mut())
            }
            Value::List(List { elements, .. }) => {
                let members = elements.iter().enumerate();
                return structure(of, members.map(|(index, value)| (index.to_string(), value.clone(), base)));
            }
            Value::Struct(members) => {
                let members = members.iter();
                return structure(of, members.map(|(name, value)| ((*name).to_owned(), value.clone(), base)));
            }
        };
        let class = Class(made(class)?);
        if matches!(value, Value::Unsigned(_) | Value::Signed(_)) {
            let base = match base {
                Base::Binary => BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_BINARY,
                Base::Octal => BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_OCTAL,
                Base::Hexadecimal => BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL,
                _ => BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_DECIMAL,
            };
            bt().bt_field_class_integer_set_preferred_display_base(class.0, base);
        }
        Ok(class)
    }
}

unsafe fn enumeration(of: *mut bt_trace_class, kind: Integer, labels: &Enumeration) -> Result<Class, String> {
    let known = labels.labels.iter().filter(|(_, values)| !values.is_empty());
    /// Adds a label with its ranges: the same functions under two names.
    macro_rules! add {
        ($class:expr, $name:expr, $type:ty, $create:ident, $range:ident, $mapping:ident, $put:ident) => {{
            let set = made(bt().$create())?;
            let limit = |value: &i128| (*value).clamp(<$type>::MIN.into(), <$type>::MAX.into()) as $type;
            for (_, values) in known.clone().filter(|(label, _)| label == $name) {
                bt().$range(set, limit(values.start()), limit(values.end()));
            }
            bt().$mapping($class, c_text($name).as_ptr(), set);
            bt().$put(set);
        }};
    }
    // SAFETY: each function is called for its sign; the class copies ranges, of which there is one at least, and labels, each once.
    unsafe {
        let class = Class(made(match kind {
            Integer::Signed(_) => bt().bt_field_class_enumeration_signed_create(of),
            Integer::Unsigned(_) => bt().bt_field_class_enumeration_unsigned_create(of),
        })?);
        let mut names = HashSet::new();
        for (name, _) in known.clone().filter(|(name, _)| names.insert(name)) {
            match kind {
                Integer::Signed(_) => add!(
                    class.0,
                    name,
                    i64,
                    bt_integer_range_set_signed_create,
                    bt_integer_range_set_signed_add_range,
                    bt_field_class_enumeration_signed_add_mapping,
                    bt_integer_range_set_signed_put_ref
                ),
                Integer::Unsigned(_) => add!(
                    class.0,
                    name,
                    u64,
                    bt_integer_range_set_unsigned_create,
                    bt_integer_range_set_unsigned_add_range,
                    bt_field_class_enumeration_unsigned_add_mapping,
                    bt_integer_range_set_unsigned_put_ref
                ),
            }
        }
        Ok(class)
    }
}

/// Sets a field to a value.
///
/// # Safety
///
/// The field is in a message that is being made, and its class was made for a value of this form.
pub unsafe fn set(field: *mut bt_field, value: &Value<'_>) {
    // SAFETY: the caller vouches for the form.
    unsafe {
        match value {
            Value::Unsigned(value) | Value::Enum(Integer::Unsigned(value), _) => {
                bt().bt_field_integer_unsigned_set_value(field, *value);
            }
            Value::Signed(value) | Value::Enum(Integer::Signed(value), _) => {
                bt().bt_field_integer_signed_set_value(field, *value);
            }
            Value::Float(value) => bt().bt_field_real_double_precision_set_value(field, *value),
            Value::Bool(value) => bt().bt_field_bool_set_value(field, (*value).into()),
            Value::Text(text) => {
                bt().bt_field_string_clear(field);
                let start = text.as_ptr().cast::<c_char>();
                bt().bt_field_string_append_with_length(field, start, text.len() as u64);
            }
            Value::List(list) if is_uniform(list) => {
                bt().bt_field_array_dynamic_set_length(field, list.elements.len() as u64);
                for (index, element) in (0..).zip(&list.elements) {
                    set(bt().bt_field_array_borrow_element_field_by_index(field, index), element);
                }
            }
            Value::List(List { elements, .. }) => set_members(field, elements.iter()),
            Value::Struct(members) => set_members(field, members.iter().map(|(_, member)| member)),
        }
    }
}

/// # Safety
///
/// As above, for a structure.
unsafe fn set_members<'a>(field: *mut bt_field, members: impl Iterator<Item = &'a Value<'a>>) {
    for (index, member) in (0..).zip(members) {
        // SAFETY: the structure has a member for each value.
        unsafe { set(bt().bt_field_structure_borrow_member_field_by_index(field, index), member) };
    }
}
