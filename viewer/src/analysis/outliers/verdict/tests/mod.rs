mod never_silent;
mod samples;
mod statistics;
