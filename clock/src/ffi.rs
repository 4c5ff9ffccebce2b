//! What LTTng-UST asks of a clock plugin (`<lttng/ust-clock.h>`). All of the crate's `unsafe` is here.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::fs;
use std::io::{self, Write as _};

use lttng_provider::__private::check_counter;
pub(crate) use lttng_provider::__private::counter;

use crate::timekeeper;

/// The name in a trace: that of LTTng's own clock, since times are of the same clock.
const NAME: &CStr = c"monotonic";

/// The description in a trace; it says that the session daemon has the plugin.
const DESCRIPTION: &CStr = c"Monotonic clock, computed from the processor's counter";

/// Nanoseconds in a second.
const FREQUENCY: u64 = 1_000_000_000;

/// Called by LTTng-UST when it has loaded the library; the name is part of its interface.
#[unsafe(no_mangle)]
extern "C" fn lttng_ust_clock_plugin_init() {
    let result = check_counter().and_then(|()| {
        timekeeper::begin();
        // SAFETY: the function stays loaded, as LTTng-UST never unloads a plugin.
        unsafe { libc::pthread_atfork(None, None, Some(reset_after_fork)) };
        install()
    });
    match result {
        Ok(()) => {}
        Err(reason) => {
            // Not by `eprintln!`, which would end the host program if its standard error cannot be written to.
            let message = "the processor's counter is not used, but LTTng's clock";
            let _ = writeln!(io::stderr(), "lttng-clock: {message}: {reason}");
        }
    }
}

/// # Safety
/// It may be called at any time.
unsafe extern "C" fn reset_after_fork() {
    timekeeper::reset_after_fork();
}

/// The monotonic clock, in nanoseconds.
pub(crate) fn monotonic() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock always exists, and `time` is valid for writes.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as u64 * FREQUENCY + time.tv_nsec as u64
}

extern "C" fn read64() -> u64 {
    timekeeper::now()
}

extern "C" fn frequency() -> u64 {
    FREQUENCY
}

extern "C" fn name() -> *const c_char {
    NAME.as_ptr()
}

extern "C" fn description() -> *const c_char {
    DESCRIPTION.as_ptr()
}

/// That of LTTng's clock: the UUID of the boot.
extern "C" fn uuid(to: *mut c_char) -> c_int {
    const LENGTH: usize = 36;
    let Ok(boot) = fs::read_to_string("/proc/sys/kernel/random/boot_id") else { return -1 };
    let boot = boot.trim();
    if boot.len() != LENGTH {
        return -1;
    }
    // SAFETY: LTTng-UST has room for a UUID as text and a NUL.
    unsafe {
        to.copy_from_nonoverlapping(boot.as_ptr().cast(), LENGTH);
        to.add(LENGTH).write(0);
    }
    0
}

/// Gives LTTng-UST, which has loaded us, the functions above.
fn install() -> Result<(), String> {
    let library = c"liblttng-ust-common.so.1";
    // SAFETY: the name ends in a NUL; nothing is loaded.
    let library = unsafe { libc::dlopen(library.as_ptr(), libc::RTLD_NOW | libc::RTLD_NOLOAD) };
    if library.is_null() {
        return Err("LTTng-UST is not loaded".to_owned());
    }
    let callbacks: [(&CStr, *const c_void); 5] = [
        (c"lttng_ust_trace_clock_set_read64_cb", read64 as *const c_void),
        (c"lttng_ust_trace_clock_set_freq_cb", frequency as *const c_void),
        (c"lttng_ust_trace_clock_set_uuid_cb", uuid as *const c_void),
        (c"lttng_ust_trace_clock_set_name_cb", name as *const c_void),
        (c"lttng_ust_trace_clock_set_description_cb", description as *const c_void),
    ];
    for (setter, callback) in callbacks {
        let set: unsafe extern "C" fn(*const c_void) -> c_int = symbol(library, setter)?;
        // SAFETY: each takes a pointer to a function of the type that ours has.
        succeeded(setter, unsafe { set(callback) })?;
    }
    let enable = c"lttng_ust_enable_trace_clock_override";
    let function: unsafe extern "C" fn() -> c_int = symbol(library, enable)?;
    // SAFETY: all functions are set.
    succeeded(enable, unsafe { function() })
}

fn succeeded(function: &CStr, result: c_int) -> Result<(), String> {
    if result == 0 { Ok(()) } else { Err(format!("{} fails with {result}", function.to_string_lossy())) }
}

/// A function of the library; `F` is a pointer to a function.
fn symbol<F: Copy>(library: *mut c_void, name: &CStr) -> Result<F, String> {
    // SAFETY: the library is open and the name ends in a NUL.
    let address = unsafe { libc::dlsym(library, name.as_ptr()) };
    if address.is_null() {
        return Err(format!("the installed LTTng-UST has no {}", name.to_string_lossy()));
    }
    assert_eq!(size_of::<F>(), size_of::<*mut c_void>(), "a pointer to a function");
    // SAFETY: the callers say the type that the header has for the function, and the size is right.
    Ok(unsafe { std::mem::transmute_copy(&address) })
}
