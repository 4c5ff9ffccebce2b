//! The part of LTTng-UST's headers that describes and records events, made by bindgen.
//! `tests/bindings` compares, and generates it again if asked.
#![allow(missing_docs, non_camel_case_types, non_upper_case_globals, dead_code)]
pub use super::tracepoint::lttng_ust_tracepoint;

#[repr(C)]
#[derive(Copy, Clone)]
pub struct lttng_ust_event_field {
    pub struct_size: u32,
    pub name: *const ::std::os::raw::c_char,
    pub type_: *const lttng_ust_type_common,
    pub nowrite_nofilter: u32,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct lttng_ust_type_integer {
    pub parent: lttng_ust_type_common,
    pub struct_size: u32,
    pub size: u32,
    pub alignment: u16,
    pub signedness_reverse_byte_order: u16,
    pub base: u32,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct lttng_ust_type_float {
    pub parent: lttng_ust_type_common,
    pub struct_size: u32,
    pub exp_dig: u32,
    pub mant_dig: u32,
    pub alignment: u16,
    pub reverse_byte_order: u16,
}

pub const LTTNG_UST_PROVIDER_MAJOR: u32 = 3;
pub const LTTNG_UST_PROVIDER_MINOR: u32 = 0;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct lttng_ust_registered_probe {
    _unused: [u8; 0],
}
pub const lttng_ust_type_lttng_ust_type_integer: lttng_ust_type = 0;
pub const lttng_ust_type_lttng_ust_type_string: lttng_ust_type = 1;
pub const lttng_ust_type_lttng_ust_type_float: lttng_ust_type = 2;
pub const lttng_ust_type_lttng_ust_type_dynamic: lttng_ust_type = 3;
pub const lttng_ust_type_lttng_ust_type_enum: lttng_ust_type = 4;
pub const lttng_ust_type_lttng_ust_type_array: lttng_ust_type = 5;
pub const lttng_ust_type_lttng_ust_type_sequence: lttng_ust_type = 6;
pub const lttng_ust_type_lttng_ust_type_struct: lttng_ust_type = 7;
pub const lttng_ust_type_NR_LTTNG_UST_TYPE: lttng_ust_type = 8;
pub type lttng_ust_type = ::std::os::raw::c_uint;
pub const lttng_ust_string_encoding_lttng_ust_string_encoding_none: lttng_ust_string_encoding = 0;
pub const lttng_ust_string_encoding_lttng_ust_string_encoding_UTF8: lttng_ust_string_encoding = 1;
pub const lttng_ust_string_encoding_lttng_ust_string_encoding_ASCII: lttng_ust_string_encoding = 2;
pub const lttng_ust_string_encoding_NR_LTTNG_UST_STRING_ENCODING: lttng_ust_string_encoding = 3;
pub type lttng_ust_string_encoding = ::std::os::raw::c_uint;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct lttng_ust_type_common {
    pub type_: lttng_ust_type,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct lttng_ust_type_string {
    pub parent: lttng_ust_type_common,
    pub struct_size: u32,
    pub encoding: lttng_ust_string_encoding,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct lttng_ust_tracepoint_class {
    pub struct_size: u32,
    pub fields: *const *const lttng_ust_event_field,
    pub nr_fields: usize,
    pub probe_callback: ::std::option::Option<unsafe extern "C" fn()>,
    pub signature: *const ::std::os::raw::c_char,
    pub probe_desc: *const lttng_ust_probe_desc,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct lttng_ust_event_desc {
    pub struct_size: u32,
    pub event_name: *const ::std::os::raw::c_char,
    pub probe_desc: *const lttng_ust_probe_desc,
    pub tp_class: *const lttng_ust_tracepoint_class,
    pub loglevel: *mut *const ::std::os::raw::c_int,
    pub model_emf_uri: *mut *const ::std::os::raw::c_char,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct lttng_ust_probe_desc {
    pub struct_size: u32,
    pub provider_name: *const ::std::os::raw::c_char,
    pub event_desc: *const *const lttng_ust_event_desc,
    pub nr_events: ::std::os::raw::c_uint,
    pub major: u32,
    pub minor: u32,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct lttng_ust_probe_ctx {
    pub struct_size: u32,
    pub ip: *mut ::std::os::raw::c_void,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct lttng_ust_event_common_private {
    _unused: [u8; 0],
}
pub const lttng_ust_event_type_LTTNG_UST_EVENT_TYPE_RECORDER: lttng_ust_event_type = 0;
pub const lttng_ust_event_type_LTTNG_UST_EVENT_TYPE_NOTIFIER: lttng_ust_event_type = 1;
pub type lttng_ust_event_type = ::std::os::raw::c_uint;
pub const lttng_ust_event_filter_result_LTTNG_UST_EVENT_FILTER_ACCEPT: lttng_ust_event_filter_result = 0;
pub const lttng_ust_event_filter_result_LTTNG_UST_EVENT_FILTER_REJECT: lttng_ust_event_filter_result = 1;
pub type lttng_ust_event_filter_result = ::std::os::raw::c_uint;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct lttng_ust_event_common {
    pub struct_size: u32,
    pub priv_: *mut lttng_ust_event_common_private,
    pub type_: lttng_ust_event_type,
    pub child: *mut ::std::os::raw::c_void,
    pub enabled: ::std::os::raw::c_int,
    pub eval_filter: ::std::os::raw::c_int,
    pub run_filter: ::std::option::Option<
        unsafe extern "C" fn(
            event: *const lttng_ust_event_common,
            stack_data: *const ::std::os::raw::c_char,
            probe_ctx: *mut lttng_ust_probe_ctx,
            filter_ctx: *mut ::std::os::raw::c_void,
        ) -> ::std::os::raw::c_int,
    >,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct lttng_ust_event_recorder_private {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct lttng_ust_event_recorder {
    pub struct_size: u32,
    pub parent: *mut lttng_ust_event_common,
    pub priv_: *mut lttng_ust_event_recorder_private,
    pub chan: *mut lttng_ust_channel_buffer,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct lttng_ust_notification_ctx {
    pub struct_size: u32,
    pub eval_capture: ::std::os::raw::c_int,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct lttng_ust_event_notifier_private {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct lttng_ust_event_notifier {
    pub struct_size: u32,
    pub parent: *mut lttng_ust_event_common,
    pub priv_: *mut lttng_ust_event_notifier_private,
    pub eval_capture: ::std::os::raw::c_int,
    pub notification_send: ::std::option::Option<
        unsafe extern "C" fn(
            event_notifier: *const lttng_ust_event_notifier,
            stack_data: *const ::std::os::raw::c_char,
            probe_ctx: *mut lttng_ust_probe_ctx,
            notif_ctx: *mut lttng_ust_notification_ctx,
        ),
    >,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct lttng_ust_channel_buffer_ops_private {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct lttng_ust_channel_buffer_ops {
    pub struct_size: u32,
    pub priv_: *mut lttng_ust_channel_buffer_ops_private,
    pub event_reserve: ::std::option::Option<
        unsafe extern "C" fn(ctx: *mut lttng_ust_ring_buffer_ctx) -> ::std::os::raw::c_int,
    >,
    pub event_commit: ::std::option::Option<unsafe extern "C" fn(ctx: *mut lttng_ust_ring_buffer_ctx)>,
    pub event_write: ::std::option::Option<
        unsafe extern "C" fn(
            ctx: *mut lttng_ust_ring_buffer_ctx,
            src: *const ::std::os::raw::c_void,
            len: usize,
            alignment: usize,
        ),
    >,
    pub event_strcpy: ::std::option::Option<
        unsafe extern "C" fn(
            ctx: *mut lttng_ust_ring_buffer_ctx,
            src: *const ::std::os::raw::c_char,
            len: usize,
        ),
    >,
    pub event_pstrcpy_pad: ::std::option::Option<
        unsafe extern "C" fn(
            ctx: *mut lttng_ust_ring_buffer_ctx,
            src: *const ::std::os::raw::c_char,
            len: usize,
        ),
    >,
}
pub const lttng_ust_channel_type_LTTNG_UST_CHANNEL_TYPE_BUFFER: lttng_ust_channel_type = 0;
pub type lttng_ust_channel_type = ::std::os::raw::c_uint;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct lttng_ust_channel_common_private {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct lttng_ust_channel_common {
    pub struct_size: u32,
    pub priv_: *mut lttng_ust_channel_common_private,
    pub type_: lttng_ust_channel_type,
    pub child: *mut ::std::os::raw::c_void,
    pub enabled: ::std::os::raw::c_int,
    pub session: *mut lttng_ust_session,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct lttng_ust_channel_buffer_private {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct lttng_ust_channel_buffer {
    pub struct_size: u32,
    pub parent: *mut lttng_ust_channel_common,
    pub priv_: *mut lttng_ust_channel_buffer_private,
    pub ops: *mut lttng_ust_channel_buffer_ops,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct lttng_ust_session_private {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct lttng_ust_session {
    pub struct_size: u32,
    pub priv_: *mut lttng_ust_session_private,
    pub active: ::std::os::raw::c_int,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct lttng_ust_ring_buffer_ctx_private {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct lttng_ust_ring_buffer_ctx {
    pub struct_size: u32,
    pub client_priv: *mut ::std::os::raw::c_void,
    pub data_size: usize,
    pub largest_align: ::std::os::raw::c_int,
    pub probe_ctx: *mut lttng_ust_probe_ctx,
    pub priv_: *mut lttng_ust_ring_buffer_ctx_private,
}
