//! The part of <lttng/tracepoint-types.h> that the enabled check reads, made by bindgen.
//! `tests/bindings` compares, and generates it again if asked.
#![allow(missing_docs, non_camel_case_types, dead_code)]

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct lttng_ust_tracepoint_probe {
    pub func: ::std::option::Option<unsafe extern "C" fn()>,
    pub data: *mut ::std::os::raw::c_void,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct lttng_ust_tracepoint {
    pub struct_size: u32,
    pub provider_name: *const ::std::os::raw::c_char,
    pub event_name: *const ::std::os::raw::c_char,
    pub state: ::std::os::raw::c_int,
    pub probes: *mut lttng_ust_tracepoint_probe,
    pub tracepoint_provider_ref: *mut ::std::os::raw::c_int,
    pub signature: *const ::std::os::raw::c_char,
}
