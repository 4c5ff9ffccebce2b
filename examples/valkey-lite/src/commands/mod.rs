//! The commands, a file for each family.

mod client;
mod cluster;
mod config;
mod connection;
mod debug;
mod expiry;
mod hash;
mod info;
mod keyspace;
mod list;
mod persistence;
mod set;
mod sorted_set;
mod string;
mod transaction;

use crate::command::Command;

/// Every command.
pub fn all() -> impl Iterator<Item = &'static Command> {
    [
        client::COMMANDS,
        cluster::COMMANDS,
        config::COMMANDS,
        connection::COMMANDS,
        debug::COMMANDS,
        expiry::COMMANDS,
        hash::COMMANDS,
        info::COMMANDS,
        keyspace::COMMANDS,
        list::COMMANDS,
        persistence::COMMANDS,
        set::COMMANDS,
        sorted_set::COMMANDS,
        string::COMMANDS,
        transaction::COMMANDS,
    ]
    .into_iter()
    .flatten()
}

/// The elements that `start` to `stop` stand for among `length`; negative numbers count from the end.
fn slice_of(start: i64, stop: i64, length: usize) -> std::ops::Range<usize> {
    let length = length as i64;
    let absolute = |index: i64| if index < 0 { index.saturating_add(length) } else { index };
    let start = absolute(start).clamp(0, length);
    let end = absolute(stop).saturating_add(1).clamp(start, length);
    start as usize..end as usize
}
