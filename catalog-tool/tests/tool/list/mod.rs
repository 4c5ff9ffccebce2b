//! What `lttng-catalog list` finds, compared with what readelf and the session daemon find.

mod built;
mod files;
mod libraries;
mod mutations;
mod process;
