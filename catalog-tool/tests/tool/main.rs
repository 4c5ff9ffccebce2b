//! The program `lttng-catalog` and its parts.

mod cli;
mod hostile;
mod import;
mod list;
mod memcached;
mod record;
mod round_trip;
