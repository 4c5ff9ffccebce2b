//! Catalogs as writers need them: what an application hands to its tracers, derived once.
//!
//! A field of a catalog is a parameter in Rust, one or two parameters in C, an argument of LTTng-UST's macros, bytes in
//! a trace and an operand of a USDT probe. If two generators disagreed about one of these, safe code would call a C
//! function with arguments of other types. So [`Program::lower`] decides all of it, and front ends (Rust, C, the derive
//! macros) and back ends (LTTng-UST, USDT) only write it out.
//!
//! ```
//! use lttng_catalog::lowered::Program;
//!
//! let catalogs = [lttng_catalog::valkey()];
//! let program = Program::lower(&catalogs, "").unwrap();
//! let call = program.event("valkey_commands", "command_call").unwrap();
//! assert_eq!(call.symbol, "valkey_commands___command_call");
//! let addr = &call.arguments[1];
//! assert_eq!(addr.c_parameters()[0].declaration(), "const char *addr");
//! assert_eq!(call.probe.arguments.len(), 5);
//! ```

mod argument;
mod clash;
mod error;
mod event;
mod probe;
mod program;
mod provider;

pub use argument::{Argument, CParameter, Source};
pub use error::LowerError;
pub use event::{Duration, Event, PACKED_MAX};
pub use probe::{Probe, ProbeArgument, ProbePart};
pub use program::Program;
pub use provider::{Class, Provider};
