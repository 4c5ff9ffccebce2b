//! The commands, a file for each family.

mod client;
mod cluster;
mod collection;
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
