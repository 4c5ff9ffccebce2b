//! The server and libc. All of the crate's `unsafe` is here.
//!
//! The server calls a module in one thread at a time: its main thread, or one that holds the lock of modules. libc's calls
//! come from any thread, also in signal handlers; `preload` therefore shares only atomics with the rest.

mod api;
mod callbacks;
mod commands;
mod held;
mod load;
// Not in tests of the crate, whose own calls they would be.
#[cfg(not(test))]
mod preload;
mod process;
