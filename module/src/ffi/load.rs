//! Loading the module, which never unloads.

use std::ffi::{c_int, c_void};
use std::panic::catch_unwind;

use super::api::{self, Api, Context, ERR, OK, VERSION, log};
use super::callbacks::State;
use super::held::Holders;
use super::{commands, process};

/// The name that `MODULE LIST` shows.
const NAME: &std::ffi::CStr = c"valkey_trace";

/// Called by the server when it has loaded the library; the name is part of the API of Redis, and Valkey knows it, too.
///
/// # Safety
/// Only a server calls it, with a valid context.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn RedisModule_OnLoad(
    context: *mut Context,
    _arguments: *mut *mut c_void,
    _count: c_int,
) -> c_int {
    // SAFETY: as the server says.
    let result = catch_unwind(|| unsafe { load(context) });
    match result.unwrap_or_else(|_| Err("a defect of this module".to_owned())) {
        Ok(()) => OK,
        Err(reason) => {
            // SAFETY: as the server says.
            unsafe { log(context, c"warning", &format!("valkey_trace: not loaded: {reason}")) };
            ERR
        }
    }
}

/// Called by the server for MODULE UNLOAD, which is refused.
///
/// # Safety
/// Only a server calls it, with a valid context.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn RedisModule_OnUnload(context: *mut Context) -> c_int {
    let message =
        "valkey_trace: MODULE UNLOAD is refused: LTTng keeps pointers to its events until the server ends";
    // SAFETY: as the server says.
    let _ = catch_unwind(|| unsafe { log(context, c"warning", message) });
    ERR
}

/// # Safety
/// The context is one that a server gave to `OnLoad`.
unsafe fn load(context: *mut Context) -> Result<(), String> {
    // SAFETY: as the caller says; all that is asked for is freed where it is asked for.
    unsafe {
        let api = Api::find(context).map_err(|missing| {
            format!("this server is older than Redis 7.0: it has no {}", missing.to_string_lossy())
        })?;
        if (api.is_name_busy)(NAME.as_ptr()) != 0 || process::is_loaded() {
            return Err("it is loaded already".to_owned());
        }
        (api.set_attributes)(context, NAME.as_ptr(), 1, VERSION);
        let mut state = State::new(api);
        state.version = api.info_line(context, c"server", c"valkey_version");
        let is_valkey = !state.version.is_empty();
        if !is_valkey {
            state.version = api.info_line(context, c"server", c"redis_version");
        }
        state.server = (if is_valkey { "valkey" } else { "redis" }).to_owned();
        state.preloaded = process::is_preloaded();
        state.holders = Holders::find(&api);
        if state.holders.is_none() {
            log(
                context,
                c"warning",
                "valkey_trace: commands that MULTI queues cannot be told apart, and count as calls",
            );
        }
        match commands::ask(&api, context) {
            Some(commands) => state.commands = commands,
            None => {
                log(context, c"warning", "valkey_trace: COMMAND does not answer: commands are not recorded")
            }
        }
        if !process::has_lttng() {
            log(
                context,
                c"warning",
                "valkey_trace: nothing is recorded: liblttng-ust.so.1 is not installed (package liblttng-ust1)",
            );
        }
        let message = format!(
            "valkey_trace: {} {}: {} commands; addresses of clients: {}; files and sleep (LD_PRELOAD): {}",
            state.server,
            state.version,
            state.commands.len(),
            if state.knows_clients() { "known" } else { "not before Redis 7.2" },
            if state.preloaded { "timed" } else { "not timed" },
        );
        if !state.install(context) {
            return Err("this server is older than Redis 7.0: it does not tell modules about its event loop"
                .to_owned());
        }
        process::load();
        api::log(context, c"notice", &message);
    }
    Ok(())
}
