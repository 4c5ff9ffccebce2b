//! Parameters, to and from the library's values.

use std::ffi::{c_char, c_void};

use serde_json::{Value, json};

use super::bindings::*;
use super::error::{made, take_error};
use super::{bt, c_text, text};

/// A value that the library owns with us.
pub struct Owned(*mut bt_value);

impl Owned {
    /// A map of parameters.
    pub fn map(parameters: &[(String, Value)]) -> Result<Self, String> {
        // SAFETY: values are valid, the name is copied, and the map takes a reference of its own.
        unsafe {
            let map = Self(made(bt().bt_value_map_create())?);
            for (name, value) in parameters {
                let value = Self::new(value)?;
                let status = bt().bt_value_map_insert_entry(map.0, c_text(name).as_ptr(), value.0);
                if status != BT_VALUE_MAP_INSERT_ENTRY_STATUS_OK {
                    return Err(take_error());
                }
            }
            Ok(map)
        }
    }

    fn new(value: &Value) -> Result<Self, String> {
        // SAFETY: each makes a value that we own, and copies texts; a list takes a reference of its own.
        unsafe {
            let value = match value {
                Value::Bool(value) => bt().bt_value_bool_create_init((*value).into()),
                Value::Number(number) => match number.as_i64() {
                    Some(value) => bt().bt_value_integer_signed_create_init(value),
                    None => bt().bt_value_real_create_init(number.as_f64().unwrap_or(f64::NAN)),
                },
                Value::Array(elements) => {
                    let list = Self(made(bt().bt_value_array_create())?);
                    for element in elements {
                        let status = bt().bt_value_array_append_element(list.0, Self::new(element)?.0);
                        if status != BT_VALUE_ARRAY_APPEND_ELEMENT_STATUS_OK {
                            return Err(take_error());
                        }
                    }
                    return Ok(list);
                }
                value => bt().bt_value_string_create_init(c_text(value.as_str().unwrap_or("")).as_ptr()),
            };
            Ok(Self(made(value)?))
        }
    }

    /// For calls that only read it.
    pub fn as_ptr(&self) -> *const bt_value {
        self.0
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: our own reference.
        unsafe { bt().bt_value_put_ref(self.0) };
    }
}

/// The parameters that a component was given, in the order of the library. An error names one of a type that no option has.
///
/// # Safety
///
/// The pointer leads to a map that is not changed meanwhile.
pub unsafe fn parameters(map: *const bt_value) -> Result<Vec<(String, Value)>, String> {
    type Entries = Vec<(String, *const bt_value)>;
    unsafe extern "C" fn add(
        name: *const c_char,
        value: *const bt_value,
        entries: *mut c_void,
    ) -> bt_value_map_foreach_entry_const_func_status {
        // SAFETY: the list outlives the call below, which is the only one that has this function; the name is a text.
        unsafe { (*entries.cast::<Entries>()).push((text(name), value)) };
        BT_VALUE_MAP_FOREACH_ENTRY_CONST_FUNC_STATUS_OK
    }
    let mut entries = Entries::new();
    // SAFETY: the caller vouches for the map; the function gets the address of our list.
    let status = unsafe { bt().bt_value_map_foreach_entry_const(map, Some(add), (&raw mut entries).cast()) };
    if status != BT_VALUE_MAP_FOREACH_ENTRY_CONST_STATUS_OK {
        return Err(take_error());
    }
    let known = entries.into_iter().map(|(name, value)| {
        // SAFETY: the value lives as long as the map.
        match unsafe { parameter(value) } {
            Some(value) => Ok((name, value)),
            None => Err(format!("the parameter `{name}` has a type that no option has")),
        }
    });
    known.collect()
}

/// What a value is, of those that parameters and a trace's environment have.
///
/// # Safety
///
/// The pointer leads to a value.
pub unsafe fn parameter(value: *const bt_value) -> Option<Value> {
    // SAFETY: each function is called for its type alone, and indexes are below the length.
    unsafe {
        Some(match bt().bt_value_get_type(value) {
            BT_VALUE_TYPE_BOOL => json!(bt().bt_value_bool_get(value) != 0),
            BT_VALUE_TYPE_SIGNED_INTEGER => json!(bt().bt_value_integer_signed_get(value)),
            BT_VALUE_TYPE_UNSIGNED_INTEGER => json!(bt().bt_value_integer_unsigned_get(value)),
            BT_VALUE_TYPE_REAL => json!(bt().bt_value_real_get(value)),
            BT_VALUE_TYPE_STRING => json!(text(bt().bt_value_string_get(value))),
            BT_VALUE_TYPE_ARRAY => {
                let element =
                    |index| parameter(bt().bt_value_array_borrow_element_by_index_const(value, index));
                (0..bt().bt_value_array_get_length(value)).map(element).collect::<Option<Value>>()?
            }
            _ => return None,
        })
    }
}
