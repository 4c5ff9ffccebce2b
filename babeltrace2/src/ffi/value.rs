//! Parameters, to and from the library's values.

use std::ffi::{CStr, CString, c_char, c_void};

use super::bindings::*;
use super::error::take_error;
use super::{bt, text};
use crate::parameters::Parameter;

/// A map of parameters that the library owns with us.
pub struct Parameters(*mut bt_value);

impl Parameters {
    /// A map of these.
    pub fn new(parameters: &[(String, Parameter)]) -> Result<Self, String> {
        // SAFETY: makes a value that we own; null is checked.
        let map = Self(owned(unsafe { bt().bt_value_map_create() })?);
        for (name, parameter) in parameters {
            let name = c_text(name)?;
            let value = Self(value(parameter)?);
            // SAFETY: both values are valid, the name is copied, and the map takes a reference of its own.
            let status = unsafe { bt().bt_value_map_insert_entry(map.0, name.as_ptr(), value.0) };
            if status != BT_VALUE_MAP_INSERT_ENTRY_STATUS_OK {
                return Err(take_error());
            }
        }
        Ok(map)
    }

    /// For calls that only read it.
    pub fn as_ptr(&self) -> *const bt_value {
        self.0
    }
}

impl Drop for Parameters {
    fn drop(&mut self) {
        // SAFETY: our own reference.
        unsafe { bt().bt_value_put_ref(self.0) };
    }
}

fn value(parameter: &Parameter) -> Result<*mut bt_value, String> {
    // SAFETY: each makes a value that we own.
    unsafe {
        match parameter {
            Parameter::Boolean(value) => owned(bt().bt_value_bool_create_init((*value).into())),
            Parameter::Integer(value) => owned(bt().bt_value_integer_signed_create_init(*value)),
            Parameter::Real(value) => owned(bt().bt_value_real_create_init(*value)),
            Parameter::Text(value) => owned(bt().bt_value_string_create_init(c_text(value)?.as_ptr())),
            Parameter::List(elements) => {
                let list = Parameters(owned(bt().bt_value_array_create())?);
                for element in elements {
                    let element = Parameters(value_of_element(element)?);
                    let status = bt().bt_value_array_append_element(list.0, element.0);
                    if status != BT_VALUE_ARRAY_APPEND_ELEMENT_STATUS_OK {
                        return Err(take_error());
                    }
                }
                let value = list.0;
                std::mem::forget(list);
                Ok(value)
            }
        }
    }
}

/// Lists hold anything but lists: nothing takes those, and recursion would need a limit.
fn value_of_element(element: &Parameter) -> Result<*mut bt_value, String> {
    match element {
        Parameter::List(_) => Err("a list of parameters cannot hold a list".to_owned()),
        _ => value(element),
    }
}

fn owned(value: *mut bt_value) -> Result<*mut bt_value, String> {
    if value.is_null() { Err(take_error()) } else { Ok(value) }
}

fn c_text(value: &str) -> Result<CString, String> {
    CString::new(value).map_err(|_| format!("the parameter `{}` has a NUL in it", value.escape_debug()))
}

/// The parameters that a component was given, in the order of the library. An error names one of a type that no option has.
///
/// # Safety
///
/// The pointer leads to a map that is not changed meanwhile.
pub unsafe fn parameters(map: *const bt_value) -> Result<Vec<(String, Parameter)>, String> {
    let mut entries: Vec<(String, *const bt_value)> = Vec::new();
    unsafe extern "C" fn add(
        name: *const c_char,
        value: *const bt_value,
        entries: *mut c_void,
    ) -> bt_value_map_foreach_entry_const_func_status {
        // SAFETY: the list outlives the call below, which is the only one that has this function; the name is a text.
        unsafe {
            let entries = &mut *entries.cast::<Vec<(String, *const bt_value)>>();
            entries.push((CStr::from_ptr(name).to_string_lossy().into_owned(), value));
        }
        BT_VALUE_MAP_FOREACH_ENTRY_CONST_FUNC_STATUS_OK
    }
    // SAFETY: the caller vouches for the map; the function gets the address of our list.
    let status = unsafe { bt().bt_value_map_foreach_entry_const(map, Some(add), (&raw mut entries).cast()) };
    if status != BT_VALUE_MAP_FOREACH_ENTRY_CONST_STATUS_OK {
        return Err(take_error());
    }
    let known = entries.into_iter().map(|(name, value)| {
        // SAFETY: the value lives as long as the map.
        let parameter = unsafe { parameter(value) };
        parameter
            .map(|value| (name.clone(), value))
            .ok_or_else(|| format!("the parameter `{name}` has a type that no option has"))
    });
    known.collect()
}

/// What a value is, of those that parameters and a trace's environment have.
///
/// # Safety
///
/// The pointer leads to a value.
pub unsafe fn parameter(value: *const bt_value) -> Option<Parameter> {
    // SAFETY: each function is called for its type alone, and indexes are below the length.
    unsafe {
        Some(match bt().bt_value_get_type(value) {
            BT_VALUE_TYPE_BOOL => Parameter::Boolean(bt().bt_value_bool_get(value) != 0),
            BT_VALUE_TYPE_SIGNED_INTEGER => Parameter::Integer(bt().bt_value_integer_signed_get(value)),
            BT_VALUE_TYPE_UNSIGNED_INTEGER => {
                Parameter::Integer(i64::try_from(bt().bt_value_integer_unsigned_get(value)).ok()?)
            }
            BT_VALUE_TYPE_REAL => Parameter::Real(bt().bt_value_real_get(value)),
            BT_VALUE_TYPE_STRING => Parameter::Text(text(bt().bt_value_string_get(value))),
            BT_VALUE_TYPE_ARRAY => {
                let element = |index| {
                    let element = bt().bt_value_array_borrow_element_by_index_const(value, index);
                    parameter(element).filter(|element| !matches!(element, Parameter::List(_)))
                };
                let length = bt().bt_value_array_get_length(value);
                Parameter::List((0..length).map(element).collect::<Option<_>>()?)
            }
            _ => return None,
        })
    }
}
