//! The enums of the model, and the words that catalogs use for them.

use std::fmt;

/// Defines an enum of the model with a name for each variant: the one that catalogs use.
macro_rules! named {
    ($(#[$attribute:meta])* $type:ident { $($(#[$doc:meta])* $variant:ident => $name:literal,)+ }) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $type {
            $($(#[$doc])* $variant,)+
        }

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

named! {
    /// How a duration came about.
    #[derive(Default)]
    #[non_exhaustive]
    Measure {
        /// One interval: `[timestamp - duration, timestamp]`.
        #[default]
        Interval => "interval",
        /// A sum of pieces; it has no position in time.
        Sum => "sum",
    }
}

named! {
    /// The clock that a duration was measured with.
    #[derive(Default)]
    #[non_exhaustive]
    Clock {
        /// It never steps.
        #[default]
        Monotonic => "monotonic",
        /// It can step, and a duration across a step wraps to an implausible value.
        Wall => "wall",
    }
}

named! {
    /// The unit of a field's value.
    #[non_exhaustive]
    Unit {
        /// `ns`
        Nanoseconds => "ns",
        /// `us`
        Microseconds => "us",
        /// `ms`
        Milliseconds => "ms",
        /// `s`
        Seconds => "s",
        /// `bytes`
        Bytes => "bytes",
    }
}

impl Unit {
    /// The nanoseconds in one; `None` for a unit that is not of time.
    pub fn nanoseconds(self) -> Option<u64> {
        match self {
            Unit::Nanoseconds => Some(1),
            Unit::Microseconds => Some(1_000),
            Unit::Milliseconds => Some(1_000_000),
            Unit::Seconds => Some(1_000_000_000),
            Unit::Bytes => None,
        }
    }

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

named! {
    /// LTTng's log levels, the most severe first.
    #[derive(Default, PartialOrd, Ord)]
    #[allow(missing_docs)]
    LogLevel {
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
        /// LTTng's default.
        #[default]
        DebugLine => "debug-line",
        Debug => "debug",
    }
}
