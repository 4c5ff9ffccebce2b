//! The commands, a file for each family.

mod cluster;
mod config;
mod debug;
mod hash;
mod info;
mod keyspace;
mod list;
mod persistence;
mod set;
mod string;
mod transaction;

use crate::command::Command;

/// Every command.
pub fn all() -> impl Iterator<Item = &'static Command> {
    [
        cluster::COMMANDS,
        config::COMMANDS,
        debug::COMMANDS,
        hash::COMMANDS,
        info::COMMANDS,
        keyspace::COMMANDS,
        list::COMMANDS,
        persistence::COMMANDS,
        set::COMMANDS,
        string::COMMANDS,
        transaction::COMMANDS,
    ]
    .into_iter()
    .flatten()
}
