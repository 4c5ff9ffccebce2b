//! What records events.

/// What events are recorded by: nothing, one of these, or both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackEnds {
    /// LTTng-UST, through C.
    pub lttng: bool,
    /// USDT probes, which bpftrace, gdb, perf and SystemTap read.
    pub usdt: bool,
}

impl BackEnds {
    /// Whether there is any.
    pub fn any(self) -> bool {
        self.lttng || self.usdt
    }
}
