//! From a build script, turns a catalog into LTTng-UST providers and typed Rust wrappers.
//!
//! All that an application's `build.rs` needs:
//!
//! ```no_run
//! lttng_provider_build::compile("catalog.toml");
//! ```
//!
//! and its `src/lib.rs` or `src/main.rs` then has the events by `lttng_provider::include_events!();`. The
//! application depends on `lttng-provider`, and forwards a feature to it to switch tracing on:
//!
//! ```toml
//! [features]
//! lttng = ["lttng-provider/lttng"]
//!
//! [dependencies]
//! lttng-provider = "0.1"
//!
//! [build-dependencies]
//! lttng-provider-build = "0.1"
//! ```
//!
//! [`generate`] is pure: catalogs in, named texts out. Only [`Builder`] writes files and runs the C
//! compiler.

mod builder;
mod c;
mod generate;
mod layout;
mod rust;

pub use builder::{Builder, Error, compile, use_catalog};
pub use generate::{Clash, Options, SourceFile, generate};
