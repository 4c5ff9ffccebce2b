mod conditions;
mod never_silent;
pub mod samples;

mod statistics;
