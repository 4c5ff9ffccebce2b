//! The few functions of the C library that are called here. The crate `libc` has them, but takes longer to compile than all
//! of this crate; a test compares the two.

use std::ffi::{c_char, c_int, c_long, c_ulong, c_void};

pub(super) const CLOCK_MONOTONIC: c_int = 1;
pub(super) const RTLD_NOW: c_int = 2;
pub(super) const RTLD_NOLOAD: c_int = 4;

/// All libraries that are loaded, in their order.
pub(super) const RTLD_DEFAULT: *mut c_void = std::ptr::null_mut();

#[repr(C)]
pub(super) struct TimeSpec {
    pub(super) seconds: c_long,
    pub(super) nanoseconds: c_long,
}

/// A `sigset_t`.
#[repr(C)]
pub(super) struct SignalSet([c_ulong; 128 / size_of::<c_ulong>()]);

unsafe extern "C" {
    pub(super) fn clock_gettime(clock: c_int, time: *mut TimeSpec) -> c_int;
    pub(super) fn memchr(start: *const c_void, byte: c_int, length: usize) -> *mut c_void;
    pub(super) fn fork() -> c_int;
    pub(super) fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void;
    pub(super) fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    pub(super) fn dlclose(library: *mut c_void) -> c_int;
    #[cfg(target_os = "linux")]
    pub(super) fn __errno_location() -> *mut c_int;
    #[cfg(target_env = "gnu")]
    pub(super) fn gnu_get_libc_version() -> *const c_char;
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::mem::offset_of;

    use super::*;

    #[test]
    fn constants_and_types_are_those_of_the_crate_libc() {
        assert_eq!(CLOCK_MONOTONIC, libc::CLOCK_MONOTONIC);
        assert_eq!((RTLD_NOW, RTLD_NOLOAD), (libc::RTLD_NOW, libc::RTLD_NOLOAD));
        assert_eq!(RTLD_DEFAULT, libc::RTLD_DEFAULT);
        assert_eq!(size_of::<SignalSet>(), size_of::<libc::sigset_t>());
        assert_eq!(align_of::<SignalSet>(), align_of::<libc::sigset_t>());
        assert_eq!(size_of::<TimeSpec>(), size_of::<libc::timespec>());
        assert_eq!(offset_of!(TimeSpec, nanoseconds), offset_of!(libc::timespec, tv_nsec));
        let _: unsafe extern "C" fn(libc::clockid_t, *mut TimeSpec) -> c_int = clock_gettime;
        let _: unsafe extern "C" fn() -> libc::pid_t = fork;
        let _: unsafe extern "C" fn(*const c_void, c_int, libc::size_t) -> *mut c_void = memchr;
    }
}
