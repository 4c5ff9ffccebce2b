//! The commands by family.

mod admin;
mod collections;
mod debug;
mod keys;
mod transaction;

use crate::command::Command;

/// Every command.
pub const ALL: &[&[Command]] =
    &[admin::COMMANDS, collections::COMMANDS, debug::COMMANDS, keys::COMMANDS, transaction::COMMANDS];
