//! The program `ltt-parquet`, run as its users run it.

mod agent;
mod append;
#[cfg(feature = "object-storage")]
mod bucket;
mod consistent;
mod equal;
#[path = "../../../viewer/tests/cli/handwritten.rs"]
#[allow(dead_code, reason = "written for more than is needed here")]
mod handwritten;
mod many;
mod odd;
mod refused;
mod relay;
mod run;
mod versions;
