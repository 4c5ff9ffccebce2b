//! The program `lttng-catalog` and its parts.

mod cli;
mod contrib;
mod hostile;
mod import;
mod list;
mod record;
mod round_trip;
