//! What LTTng-UST asks of a clock plugin (`<lttng/ust-clock.h>`). All of the crate's `unsafe` is here.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::fs;
use std::io::{self, Write as _};

use lttng_provider::__private::{check_counter, counter};

use crate::calibration;

/// The name in a trace.
const NAME: &CStr = c"lttng_clock_counter";

/// The description in a trace.
const DESCRIPTION: &CStr = c"Processor counter, calibrated against the monotonic clock";

/// Called by LTTng-UST when it has loaded the library; the name is part of its interface.
#[unsafe(no_mangle)]
extern "C" fn lttng_ust_clock_plugin_init() {
    match check_counter().and_then(|()| install()) {
        // The clock is measured from here until the frequency is asked for.
        Ok(()) => calibration::begin(),
        Err(reason) => {
            // Not by `eprintln!`, which would end the host program if its standard error cannot be written to.
            let message = "the processor's counter is not used, but LTTng's clock";
            let _ = writeln!(io::stderr(), "lttng-clock: {message}: {reason}");
        }
    }
}

extern "C" fn read64() -> u64 {
    counter()
}

extern "C" fn frequency() -> u64 {
    calibration::frequency()
}

extern "C" fn name() -> *const c_char {
    NAME.as_ptr()
}

extern "C" fn description() -> *const c_char {
    DESCRIPTION.as_ptr()
}

/// Differs from that of LTTng's clock, and is the same for all programs until the machine is rebooted.
extern "C" fn uuid(to: *mut c_char) -> c_int {
    let Ok(boot) = fs::read_to_string("/proc/sys/kernel/random/boot_id") else { return -1 };
    let Some(text) = own_uuid(boot.trim()) else { return -1 };
    // SAFETY: LTTng-UST has room for a UUID as text and a NUL.
    unsafe {
        to.copy_from_nonoverlapping(text.as_ptr().cast(), text.len());
        to.add(text.len()).write(0);
    }
    0
}

/// The UUID of the boot, which LTTng's clock has, with its last digits changed.
fn own_uuid(boot: &str) -> Option<String> {
    const MARK: u64 = 0x6c74_7463_6c6b;
    let (start, end) = boot.rsplit_once('-').filter(|_| boot.len() == 36)?;
    let end = u64::from_str_radix(end, 16).ok()? ^ MARK;
    Some(format!("{start}-{end:012x}"))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uuid_differs_from_that_of_the_start_and_is_stable() {
        let boot = "b9b9e6b5-8a3a-4d0e-9f10-0123456789ab";
        let own = own_uuid(boot).unwrap();
        assert_eq!(own.len(), boot.len());
        assert_ne!(own, boot);
        assert_eq!(own_uuid(&own).unwrap(), boot);
        assert_eq!(own_uuid("not a UUID"), None);
    }
}
