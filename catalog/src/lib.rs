//! The catalog of LTTng-UST events: TOML in, checked model out.
//!
//! A catalog says which events a program has, how they are laid out in a trace and what they mean to
//! a reader. Providers and readers of traces are both driven by it, so that they cannot drift apart. The format is described in the crate's `README.md`.
//!
//! ```
//! let catalog = lttng_catalog::valkey();
//! let event = catalog.event("valkey_commands", "command_call").unwrap();
//! assert_eq!(event.meaning.duration.as_deref(), Some("duration"));
//! assert_eq!(event.field("addr").unwrap().kind.to_string(), "string");
//! ```

mod built_in;
mod callsite;
mod check;
mod enumeration;
mod error;
mod field_type;
mod lookup;
pub mod lowered;
mod markdown;
mod model;
mod naming;
mod parse;
mod place;
mod suggest;
mod toml;
mod vocabulary;

#[cfg(feature = "advice")]
pub use built_in::valkey_with_advice;
pub use built_in::{MEMCACHED, REDIS, VALKEY, VALKEY_MODULE, memcached, redis, valkey, valkey_module};
pub use callsite::CallsitePattern;
pub use check::check;
pub use error::{Authority, Error, Errors};
pub use field_type::{
    Base, ByteOrder, Content, Extent, FieldType, Integer, Number, NumberKind, Shape, Width,
};
pub use markdown::markdown;
pub use model::*;
pub use naming::{dtrace_macro, identifier};
pub use place::{Place, Step};
pub use suggest::{did_you_mean, did_you_mean_one_of, nearest};
pub use vocabulary::{Clock, LogLevel, Measure, Unit};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
