//! The parts of the program `lttng-catalog`.
//!
//! - [`import`]: catalogs from DTrace provider files and LTTng-UST headers
//! - [`diff`]: what changed from one version of a catalog to the next, and who would notice
//! - [`html`]: a catalog as a page
//! - [`offer`]: what a program or a running process offers to tracers
//! - [`probes`]: a catalog's probes for DTrace, SystemTap and bpftrace
//! - [`table`]: columns for people

pub mod diff;
pub mod html;
pub mod import;
pub mod offer;
pub mod probes;
pub mod table;
