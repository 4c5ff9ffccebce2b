//! From a build script, turns a catalog into LTTng-UST providers and typed Rust wrappers.
//!
//! All that an application's `build.rs` needs:
//!
//! ```no_run
//! lttng_provider_build::compile("catalog.toml");
//! ```
//!
//! `lttng_provider::include_events!();` then brings the events into `src/lib.rs` or `src/main.rs`. The application
//! depends on `lttng-provider`, and forwards a feature to it to switch tracing on:
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

mod back_ends;
mod builder;
mod c;
mod c_text;
mod catalog_source;
mod error;
mod file;
mod generate;
mod lists;
mod lttng;
mod runtime;
mod rust;
mod version;

pub use back_ends::BackEnds;
pub use builder::{Builder, compile, use_catalog};
pub use c::{BuildFile, COptions, License, c_sources};
pub use error::Error;
pub use file::GeneratedFile;
pub use generate::{Options, generate};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
