//! What the program `lttng-catalog` is made of.
//!
//! - [`import`]: catalogs from DTrace provider files and LTTng-UST headers
//! - [`diff`]: what changed from one version of a catalog to the next, and who would notice
//! - [`html`]: a catalog as a page

pub mod diff;
pub mod html;
pub mod import;
