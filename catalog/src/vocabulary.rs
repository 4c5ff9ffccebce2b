//! The words that catalogs use for the model's enums.

use std::fmt;

use crate::model::{Clock, LogLevel, Measure, Unit};

/// Gives an enum of the model a name for each variant: the one that catalogs use.
macro_rules! named {
    ($type:ident { $($variant:ident => $name:literal,)+ }) => {
        impl $type {
            /// Every variant.
            pub const ALL: &[$type] = &[$($type::$variant),+];

            /// The name that catalogs use.
            pub fn name(self) -> &'static str {
                match self {
                    $($type::$variant => $name,)+
                }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

named!(Measure {
    Interval => "interval",
    Sum => "sum",
});

named!(Clock {
    Monotonic => "monotonic",
    Wall => "wall",
});

named!(Unit {
    Nanoseconds => "ns",
    Microseconds => "us",
    Milliseconds => "ms",
    Seconds => "s",
    Bytes => "bytes",
});

impl Unit {
    /// The unit of this name, or of the name with a Greek letter.
    ///
    /// ```
    /// use lttng_catalog::Unit;
    ///
    /// assert_eq!(Unit::from_name("ms"), Some(Unit::Milliseconds));
    /// assert_eq!(Unit::from_name("µs"), Some(Unit::Microseconds));
    /// assert_eq!(Unit::from_name("minutes"), None);
    /// ```
    pub fn from_name(name: &str) -> Option<Unit> {
        let name = name.replace(['µ', 'μ'], "u");
        Unit::ALL.iter().copied().find(|unit| unit.name() == name)
    }
}

named!(LogLevel {
    Emergency => "emergency",
    Alert => "alert",
    Critical => "critical",
    Error => "error",
    Warning => "warning",
    Notice => "notice",
    Info => "info",
    DebugSystem => "debug-system",
    DebugProgram => "debug-program",
    DebugProcess => "debug-process",
    DebugModule => "debug-module",
    DebugUnit => "debug-unit",
    DebugFunction => "debug-function",
    DebugLine => "debug-line",
    Debug => "debug",
});
