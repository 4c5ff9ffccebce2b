//! The functions of the module API that are used, by the names that both Redis and Valkey answer.
//!
//! They are declared here, and not by bindgen from `redismodule.h`, so that building needs no libclang: the API never changes
//! a function, it only adds some.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::transmute;

/// `RedisModuleCtx`; its first member is the function that finds the others.
#[repr(C)]
pub struct Context {
    get_api: Option<unsafe extern "C" fn(name: *const c_char, target: *mut *mut c_void) -> c_int>,
}

/// An object of the server that is only passed on.
macro_rules! opaque {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[repr(C)]
        pub struct $name([u8; 0]);
    )*};
}

opaque! {
    /// `RedisModuleString`.
    Text;
    /// `RedisModuleCommandFilter`.
    Filter;
    /// `RedisModuleCommandFilterCtx`.
    FilterContext;
    /// `RedisModuleCallReply`.
    Reply;
    /// `RedisModuleServerInfoData`.
    Info;
}

/// `REDISMODULE_OK` and `REDISMODULE_ERR`.
pub const OK: c_int = 0;
pub const ERR: c_int = 1;
/// `REDISMODULE_APIVER_1`.
pub const VERSION: c_int = 1;
/// `REDISMODULE_CMDFILTER_NOSELF`: what this module calls itself does not pass its filter.
pub const NOT_SELF: c_int = 1;
/// `REDISMODULE_CTX_FLAGS_LUA` and `_MULTI`: a script or a transaction runs.
pub const SCRIPT_OR_TRANSACTION: c_int = 1 | 1 << 1;

/// `RedisModuleEvent`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Event {
    pub id: u64,
    pub data_version: u64,
}

/// `RedisModuleEventCallback`.
pub type EventCallback = unsafe extern "C" fn(*mut Context, Event, u64, *mut c_void);

/// `RedisModuleClientInfo`, version 1.
#[repr(C)]
pub struct ClientInfo {
    pub version: u64,
    pub flags: u64,
    pub id: u64,
    pub address: [u8; 46],
    pub port: u16,
    pub database: u16,
}

impl ClientInfo {
    /// `REDISMODULE_CLIENTINFO_FLAG_…`.
    pub const TLS: u64 = 1;
    pub const BLOCKED: u64 = 1 << 2;
    pub const UNIX: u64 = 1 << 4;
    pub const MULTI: u64 = 1 << 5;
    /// To be filled in.
    pub const EMPTY: ClientInfo =
        ClientInfo { version: 1, flags: 0, id: 0, address: [0; 46], port: 0, database: 0 };
}

type Log = unsafe extern "C" fn(*mut Context, level: *const c_char, format: *const c_char, ...);
type Call = unsafe extern "C" fn(*mut Context, name: *const c_char, format: *const c_char, ...) -> *mut Reply;

/// Declares the table of functions, and where each is found.
macro_rules! api {
    ($($field:ident: $name:literal => $type:ty,)*) => {
        /// The functions of a server.
        #[derive(Clone, Copy)]
        pub struct Api {
            $(pub $field: $type,)*
            /// Since Redis 7.2; in Valkey from its beginning.
            pub client_of_filter: Option<unsafe extern "C" fn(*mut FilterContext) -> u64>,
        }

        impl Api {
            /// Asks the server for all of them; the first that it does not have is the error.
            ///
            /// # Safety
            /// The context is one that a server gave to `OnLoad`.
            pub unsafe fn find(context: *mut Context) -> Result<Api, &'static CStr> {
                Ok(Api {
                    // SAFETY: each is null or has the type that the API documents for its name.
                    $($field: unsafe { transmute::<*mut c_void, Option<$type>>(lookup(context, $name)) }.ok_or($name)?,)*
                    // SAFETY: as above.
                    client_of_filter: unsafe {
                        transmute::<*mut c_void, Option<unsafe extern "C" fn(*mut FilterContext) -> u64>>(lookup(
                            context,
                            c"RedisModule_CommandFilterGetClientId",
                        ))
                    },
                })
            }
        }
    };
}

api! {
    set_attributes: c"RedisModule_SetModuleAttribs" => unsafe extern "C" fn(*mut Context, *const c_char, c_int, c_int),
    is_name_busy: c"RedisModule_IsModuleNameBusy" => unsafe extern "C" fn(*const c_char) -> c_int,
    call: c"RedisModule_Call" => Call,
    reply_length: c"RedisModule_CallReplyLength" => unsafe extern "C" fn(*mut Reply) -> usize,
    reply_element: c"RedisModule_CallReplyArrayElement" => unsafe extern "C" fn(*mut Reply, usize) -> *mut Reply,
    reply_text: c"RedisModule_CallReplyStringPtr" => unsafe extern "C" fn(*mut Reply, *mut usize) -> *const c_char,
    reply_integer: c"RedisModule_CallReplyInteger" => unsafe extern "C" fn(*mut Reply) -> i64,
    free_reply: c"RedisModule_FreeCallReply" => unsafe extern "C" fn(*mut Reply),
    register_filter: c"RedisModule_RegisterCommandFilter" => unsafe extern "C" fn(*mut Context, unsafe extern "C" fn(*mut FilterContext), c_int) -> *mut Filter,
    unregister_filter: c"RedisModule_UnregisterCommandFilter" => unsafe extern "C" fn(*mut Context, *mut Filter) -> c_int,
    filter_count: c"RedisModule_CommandFilterArgsCount" => unsafe extern "C" fn(*mut FilterContext) -> c_int,
    filter_argument: c"RedisModule_CommandFilterArgGet" => unsafe extern "C" fn(*mut FilterContext, c_int) -> *mut Text,
    text: c"RedisModule_StringPtrLen" => unsafe extern "C" fn(*const Text, *mut usize) -> *const c_char,
    create_text: c"RedisModule_CreateString" => unsafe extern "C" fn(*mut Context, *const c_char, usize) -> *mut Text,
    hold_text: c"RedisModule_HoldString" => unsafe extern "C" fn(*mut Context, *mut Text) -> *mut Text,
    free_text: c"RedisModule_FreeString" => unsafe extern "C" fn(*mut Context, *mut Text),
    context_flags: c"RedisModule_GetContextFlags" => unsafe extern "C" fn(*mut Context) -> c_int,
    client_info: c"RedisModule_GetClientInfoById" => unsafe extern "C" fn(*mut ClientInfo, u64) -> c_int,
    subscribe: c"RedisModule_SubscribeToServerEvent" => unsafe extern "C" fn(*mut Context, Event, EventCallback) -> c_int,
    info: c"RedisModule_GetServerInfo" => unsafe extern "C" fn(*mut Context, *const c_char) -> *mut Info,
    info_text: c"RedisModule_ServerInfoGetFieldC" => unsafe extern "C" fn(*mut Info, *const c_char) -> *const c_char,
    free_info: c"RedisModule_FreeServerInfo" => unsafe extern "C" fn(*mut Context, *mut Info),
}

/// A function of the server, or null.
///
/// # Safety
/// The context is one that a server gave to `OnLoad`.
unsafe fn lookup(context: *mut Context, name: &CStr) -> *mut c_void {
    let mut found = std::ptr::null_mut();
    // SAFETY: the context is valid, and the server writes a pointer to `found` or leaves it.
    unsafe {
        if let Some(get_api) = (*context).get_api {
            get_api(name.as_ptr(), &raw mut found);
        }
    }
    found
}

/// Writes a line to the server's log, if it has that function at all.
///
/// # Safety
/// The context is one that a server gave to `OnLoad`.
pub unsafe fn log(context: *mut Context, level: &CStr, message: &str) {
    let message = message.replace(['\0', '\n'], " ") + "\0";
    // SAFETY: null, or of this type; the format takes one text, which ends in a NUL.
    unsafe {
        if let Some(log) = transmute::<*mut c_void, Option<Log>>(lookup(context, c"RedisModule_Log")) {
            log(context, level.as_ptr(), c"%s".as_ptr(), message.as_ptr());
        }
    }
}

impl Api {
    /// A line of `INFO section`; empty if there is none.
    ///
    /// # Safety
    /// The context is one that the server gave for this call.
    pub unsafe fn info_line(&self, context: *mut Context, section: &CStr, name: &CStr) -> String {
        // SAFETY: both names end in a NUL; the text is copied before the data are freed.
        unsafe {
            let info = (self.info)(context, section.as_ptr());
            if info.is_null() {
                return String::new();
            }
            let text = (self.info_text)(info, name.as_ptr());
            let line = if text.is_null() {
                String::new()
            } else {
                CStr::from_ptr(text).to_string_lossy().into_owned()
            };
            (self.free_info)(context, info);
            line
        }
    }

    /// The bytes of a server's text.
    ///
    /// # Safety
    /// The text is valid and stays so while the bytes are used.
    #[inline]
    pub unsafe fn bytes<'a>(&self, text: *const Text) -> &'a [u8] {
        let mut length = 0;
        // SAFETY: the server returns a pointer to that many bytes, or a message for null.
        unsafe {
            let start = (self.text)(text, &raw mut length);
            std::slice::from_raw_parts(start.cast(), length)
        }
    }
}
