//! Asking the server for its commands.

use std::ffi::CStr;

use super::api::{Api, Context, Reply};
use crate::commands::{Commands, Listed};

/// The commands that the server lists; `None` if it does not answer, as where COMMAND was renamed.
///
/// # Safety
/// The context is one that the server gave for this call.
pub unsafe fn ask(api: &Api, context: *mut Context) -> Option<Commands> {
    let mut listed = Vec::new();
    // SAFETY: the format says that no argument follows; the reply is freed after the last use of its parts.
    unsafe {
        let reply = (api.call)(context, c"COMMAND".as_ptr(), c"".as_ptr());
        if reply.is_null() {
            return None;
        }
        add(api, reply, &mut listed);
        (api.free_reply)(reply);
    }
    (!listed.is_empty()).then(|| Commands::new(listed))
}

/// Adds the commands of a list, each before its sub-commands.
///
/// # Safety
/// The reply is null or valid.
unsafe fn add(api: &Api, reply: *mut Reply, listed: &mut Vec<Listed>) {
    // SAFETY: the server returns null for what is not there, and takes null.
    unsafe {
        for index in 0..(api.reply_length)(reply) {
            let command = (api.reply_element)(reply, index);
            let element = |index| (api.reply_element)(command, index);
            let Some(name) = text(api, element(0)) else { continue };
            let flags = element(2);
            let has = |flag: &CStr| {
                (0..(api.reply_length)(flags)).any(|index| {
                    text(api, (api.reply_element)(flags, index))
                        .is_some_and(|text| text.as_bytes() == flag.to_bytes())
                })
            };
            listed.push(Listed {
                name,
                arity: (api.reply_integer)(element(1)),
                is_fast: has(c"fast"),
                is_blocking: has(c"blocking"),
                is_module: has(c"module"),
            });
            let sub_commands = element(9);
            if !sub_commands.is_null() {
                add(api, sub_commands, listed);
            }
        }
    }
}

/// # Safety
/// The reply is null or valid.
unsafe fn text(api: &Api, reply: *mut Reply) -> Option<String> {
    if reply.is_null() {
        return None;
    }
    let mut length = 0;
    // SAFETY: the server returns that many bytes, or null for another type.
    unsafe {
        let start = (api.reply_text)(reply, &raw mut length);
        if start.is_null() {
            return None;
        }
        Some(String::from_utf8_lossy(std::slice::from_raw_parts(start.cast(), length)).into_owned())
    }
}
