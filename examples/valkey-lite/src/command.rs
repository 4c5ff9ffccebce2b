//! What a command is, and what it is given to work with.

use std::borrow::Cow;
use std::sync::LazyLock;

use crate::client::Client;
use crate::commands;
use crate::database::Database;
use crate::resp::{Bytes, Reply, parse_integer};
use crate::server::Server;

/// Changes data: is journalled if it does.
pub const WRITE: u8 = 1;
/// Takes constant or logarithmic time: traced as `fast_command`.
pub const FAST: u8 = 2;
/// May need more memory: refused when there is none.
pub const GROWS: u8 = 4;
/// Runs at once between MULTI and EXEC, rather than being queued.
pub const IMMEDIATE: u8 = 8;

/// A command, or a family of sub-commands.
pub struct Command {
    pub name: &'static str,
    /// The number of arguments including the name; the minimum if negative.
    pub arity: i32,
    pub flags: u8,
    pub run: fn(&mut Call) -> Outcome,
    members: &'static [Command],
}

/// Commands write their replies themselves, unless they fail: then the error is the reply.
pub type Outcome = Result<(), Failure>;

/// The text of an error reply; the first word is its code.
pub type Failure = Cow<'static, str>;

pub const SYNTAX: &str = "ERR syntax error";
pub const NOT_AN_INTEGER: &str = "ERR value is not an integer or out of range";

impl Command {
    pub const fn new(name: &'static str, arity: i32, flags: u8, run: fn(&mut Call) -> Outcome) -> Self {
        Self { name, arity, flags, run, members: &[] }
    }

    pub const fn family(name: &'static str, members: &'static [Command]) -> Self {
        Self { members, ..Self::new(name, -2, 0, |_| Err("ERR missing sub-command".into())) }
    }

    pub fn is(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// The command that a request asks for, checked for the number of its arguments.
    pub fn find(request: &[Bytes]) -> Result<&'static Command, Failure> {
        let shown = |bytes: &[u8]| bytes[..bytes.len().min(128)].escape_ascii().to_string();
        let name = request[0].to_ascii_lowercase();
        let mut command = TABLE
            .binary_search_by(|command| command.name.as_bytes().cmp(&name))
            .map(|index| TABLE[index])
            .map_err(|_| format!("ERR unknown command '{}'", shown(&request[0])))?;
        if let Some(name) = request.get(1).filter(|_| !command.members.is_empty()) {
            command = command
                .members
                .iter()
                .find(|member| member.name.as_bytes().eq_ignore_ascii_case(name))
                .ok_or_else(|| format!("ERR unknown subcommand '{}' of '{}'", shown(name), command.name))?;
        }
        let wanted = command.arity.unsigned_abs() as usize;
        if request.len() < wanted || (command.arity > 0 && request.len() > wanted) {
            return Err(format!("ERR wrong number of arguments for '{}' command", command.name).into());
        }
        Ok(command)
    }
}

/// All commands by name.
static TABLE: LazyLock<Vec<&'static Command>> = LazyLock::new(|| {
    let mut table: Vec<_> = commands::ALL.iter().copied().flatten().collect();
    table.sort_by_key(|command| command.name);
    table
});

/// One call of a command.
pub struct Call<'a> {
    pub server: &'a mut Server,
    pub database: &'a mut Database,
    pub client: &'a mut Client,
    pub command: &'static Command,
    /// The request, with the command's name.
    pub arguments: Vec<Bytes>,
    /// What is journalled instead of the request.
    pub journalled: Option<Bytes>,
}

impl Call<'_> {
    /// Moves an argument out.
    pub fn take(&mut self, index: usize) -> Bytes {
        std::mem::take(&mut self.arguments[index])
    }

    /// An argument as an integer.
    pub fn integer(&self, index: usize) -> Result<i64, Failure> {
        self.arguments.get(index).and_then(|text| parse_integer(text)).ok_or(NOT_AN_INTEGER.into())
    }

    /// An argument as a finite number of seconds.
    pub fn seconds(&self, index: usize) -> Result<f64, Failure> {
        let text = self.arguments.get(index).and_then(|text| std::str::from_utf8(text).ok());
        let number = text.and_then(|text| text.parse().ok()).filter(|number: &f64| number.is_finite());
        number.ok_or("ERR value is not a valid float".into())
    }

    /// Replies OK.
    pub fn ok(&mut self) -> Outcome {
        self.status("OK")
    }

    /// Replies a status.
    pub fn status(&mut self, text: &str) -> Outcome {
        self.client.output.simple(text);
        Ok(())
    }

    /// Replies a number.
    pub fn count(&mut self, number: usize) -> Outcome {
        self.client.output.integer(number as i64);
        Ok(())
    }

    /// Journals another request instead of this one: one that means the same whenever it is replayed.
    pub fn journal_as(&mut self, request: &[impl AsRef<[u8]>]) {
        self.journalled = self.database.journal.prepare(request);
    }
}
