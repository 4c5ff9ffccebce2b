//! LTTng-UST, loaded at run time, so that a program starts where it is not installed.

use std::ffi::{CStr, c_int, c_void};
use std::sync::OnceLock;

use super::bindings::{lttng_ust_probe_desc, lttng_ust_registered_probe, lttng_ust_tracepoint};

pub(super) type Tracepoints = *const *mut lttng_ust_tracepoint;
type Hook = unsafe extern "C" fn(*mut libc::sigset_t);

/// The functions of LTTng-UST that events need.
pub(super) struct Library {
    pub register: unsafe extern "C" fn(*const lttng_ust_probe_desc) -> *mut lttng_ust_registered_probe,
    pub unregister: unsafe extern "C" fn(*mut lttng_ust_registered_probe),
    pub add_tracepoints: unsafe extern "C" fn(Tracepoints, c_int) -> c_int,
    pub remove_tracepoints: unsafe extern "C" fn(Tracepoints) -> c_int,
    pub lock: unsafe extern "C" fn(),
    pub unlock: unsafe extern "C" fn(),
    pub before_fork: Hook,
    pub after_fork_in_parent: Hook,
    pub after_fork_in_child: Hook,
}

static LIBRARY: OnceLock<Option<Library>> = OnceLock::new();

impl Library {
    /// Loads it once. It is never unloaded, because its threads keep running.
    pub fn load() -> Option<&'static Library> {
        LIBRARY.get_or_init(Library::find).as_ref()
    }

    /// The library, if it was loaded.
    #[inline(always)]
    pub fn loaded() -> Option<&'static Library> {
        LIBRARY.get()?.as_ref()
    }

    fn find() -> Option<Library> {
        // SAFETY: the name ends in a NUL; the library's constructor may run at any time.
        let library =
            unsafe { libc::dlopen(c"liblttng-ust.so.1".as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
        if library.is_null() {
            return None;
        }
        // SAFETY: these are the types that the library's headers give the functions.
        unsafe {
            Some(Library {
                register: symbol(library, c"lttng_ust_probe_register")?,
                unregister: symbol(library, c"lttng_ust_probe_unregister")?,
                add_tracepoints: symbol(library, c"lttng_ust_tracepoint_module_register")?,
                remove_tracepoints: symbol(library, c"lttng_ust_tracepoint_module_unregister")?,
                lock: symbol(library, c"lttng_ust_tp_rcu_read_lock")?,
                unlock: symbol(library, c"lttng_ust_tp_rcu_read_unlock")?,
                before_fork: symbol(library, c"lttng_ust_before_fork")?,
                after_fork_in_parent: symbol(library, c"lttng_ust_after_fork_parent")?,
                after_fork_in_child: symbol(library, c"lttng_ust_after_fork_child")?,
            })
        }
    }
}

/// # Safety
/// `F` is the type of the function.
unsafe fn symbol<F>(library: *mut c_void, name: &CStr) -> Option<F> {
    // SAFETY: the library is loaded and the name ends in a NUL; a function pointer is as large as the address.
    unsafe {
        let address = libc::dlsym(library, name.as_ptr());
        (!address.is_null()).then(|| std::mem::transmute_copy(&address))
    }
}
