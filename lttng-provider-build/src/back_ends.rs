//! The back ends, which record events.

/// What events are recorded by: neither, one or both of these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackEnds {
    /// LTTng-UST, through C.
    pub lttng: bool,
    /// USDT probes, which bpftrace, gdb, perf and SystemTap read.
    pub usdt: bool,
}

impl BackEnds {
    /// Whether any back end is on.
    pub fn any(self) -> bool {
        self.lttng || self.usdt
    }
}
