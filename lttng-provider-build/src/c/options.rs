//! What is generated for C.

use super::{BuildFile, License};

/// What to generate for C; the default is the least: LTTng's macros and USDT probes.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct COptions {
    /// Whether events are packed and written with one call, by a support header that knows LTTng-UST's ring buffer, and the
    /// program starts without LTTng-UST. Otherwise there is nothing but LTTng's own macros.
    pub fast: bool,
    /// Whether every event with a duration has `trace_…_stopwatch()` and `trace_…_stop()`.
    pub stopwatches: bool,
    /// Whether there is `NAME-dtrace.h`, with the events as macros in `dtrace -h`'s spelling.
    pub dtrace_macros: bool,
    /// Fragments for build systems.
    pub build_files: Vec<BuildFile>,
    /// The licence of the files.
    pub license: License,
}
