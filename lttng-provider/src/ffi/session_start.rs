//! Tells when a session starts, which LTTng-UST has no interface for.
//!
//! When a session starts, LTTng-UST dumps its state: it calls the tracepoint `lttng_ust_statedump:start` from its thread, whether
//! the session records that event or not. Here a probe is added to it, through the function by which `liblttng-ust` adds those
//! of sessions: the ABI between that library and `liblttng-ust-tracepoint.so.1`. An event that is enabled in a session that has
//! been started already is not noticed.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::transmute;
use std::ptr::null_mut;
use std::sync::OnceLock;

use super::c_library::RTLD_DEFAULT;
use super::fork::symbol;

/// The name of the function, and its type.
const REGISTER: &CStr = c"lttng_ust_tp_probe_register_queue_release";
type Register = unsafe extern "C" fn(
    *const c_char,
    *const c_char,
    unsafe extern "C" fn(),
    *mut c_void,
    *const c_char,
) -> c_int;

/// LTTng-UST compares it with the tracepoint's, and does not connect the two if they differ.
const SIGNATURE: &CStr = c"struct lttng_ust_session *, session";

static NOTIFY: OnceLock<fn()> = OnceLock::new();

/// Has a function called when a session starts. It must not block: a thread of LTTng-UST calls it within an RCU section.
/// Only the first function is called, also in children of `fork`.
pub fn on_session_start(notify: fn()) {
    if NOTIFY.set(notify).is_err() {
        return;
    }
    let address = symbol(RTLD_DEFAULT, REGISTER);
    // SAFETY: the function has this type in all versions of the library's ABI; a null pointer becomes `None`.
    let register = unsafe { transmute::<*mut c_void, Option<Register>>(address) };
    if let Some(register) = register {
        // SAFETY: the texts end in a NUL and live for ever, as does the probe, whose type the signature states.
        unsafe {
            let probe =
                transmute::<unsafe extern "C" fn(*mut c_void, *mut c_void), unsafe extern "C" fn()>(probe);
            register(
                c"lttng_ust_statedump".as_ptr(),
                c"start".as_ptr(),
                probe,
                null_mut(),
                SIGNATURE.as_ptr(),
            );
        }
    }
}

unsafe extern "C" fn probe(_data: *mut c_void, _session: *mut c_void) {
    if let Some(notify) = NOTIFY.get() {
        notify();
    }
}
