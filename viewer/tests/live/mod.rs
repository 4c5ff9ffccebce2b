//! `ltt-top live`, `events --follow` and `record`, on real relays, session daemons and terminals.

mod deadlines;
mod figures;
mod leftovers;
mod metrics;
mod picture;
mod prometheus;
mod record;
mod replay;
mod scheduling;
mod screens;
mod server;
mod sharing;
mod start;
mod support;
mod terminal;
mod truth;
