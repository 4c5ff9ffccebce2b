//! What a command is, and what it is given to work with.

use std::borrow::Cow;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use crate::client::{Blocked, Client};
use crate::commands;
use crate::database::{Database, WrongType};
use crate::number::{parse_float, parse_integer};
use crate::request::Bytes;
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
    /// The number of arguments including the name; the least number if negative.
    pub arity: i32,
    pub flags: u8,
    action: Action,
}

enum Action {
    Run(fn(&mut Call) -> Outcome),
    Family(&'static [Command]),
}

/// Commands write their replies themselves, unless they fail: then the error is the reply.
pub type Outcome = Result<(), Failure>;

/// An error reply.
pub struct Failure(pub Cow<'static, str>);

pub const SYNTAX: Failure = Failure(Cow::Borrowed("ERR syntax error"));
pub const NOT_AN_INTEGER: Failure = Failure(Cow::Borrowed("ERR value is not an integer or out of range"));

impl From<WrongType> for Failure {
    fn from(_: WrongType) -> Self {
        Failure("WRONGTYPE Operation against a key holding the wrong kind of value".into())
    }
}

impl From<&'static str> for Failure {
    fn from(message: &'static str) -> Self {
        Failure(message.into())
    }
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Failure(message.into())
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Failure(format!("ERR {error}").into())
    }
}

impl Command {
    pub const fn new(name: &'static str, arity: i32, flags: u8, run: fn(&mut Call) -> Outcome) -> Self {
        Self { name, arity, flags, action: Action::Run(run) }
    }

    pub const fn family(name: &'static str, members: &'static [Command]) -> Self {
        Self { name, arity: -2, flags: 0, action: Action::Family(members) }
    }

    pub fn is(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    pub fn run(&self, call: &mut Call) -> Outcome {
        match self.action {
            Action::Run(run) => run(call),
            Action::Family(_) => Err("ERR a sub-command is needed".into()),
        }
    }

    /// The command that a request asks for, checked for the number of its arguments.
    pub fn find(request: &[Bytes]) -> Result<&'static Command, Failure> {
        let shown = |bytes: &[u8]| bytes[..bytes.len().min(128)].escape_ascii().to_string();
        let name = request[0].to_ascii_lowercase();
        let mut command = TABLE
            .binary_search_by(|command| command.name.as_bytes().cmp(&name))
            .map(|index| TABLE[index])
            .map_err(|_| format!("ERR unknown command '{}'", shown(&request[0])))?;
        if let (Action::Family(members), Some(name)) = (&command.action, request.get(1)) {
            command = members
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
    let mut table: Vec<_> = commands::all().collect();
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
        self.arguments.get(index).and_then(|text| parse_integer(text)).ok_or(NOT_AN_INTEGER)
    }

    /// An argument as a float.
    pub fn float(&self, index: usize) -> Result<f64, Failure> {
        self.arguments
            .get(index)
            .and_then(|text| parse_float(text))
            .ok_or("ERR value is not a valid float".into())
    }

    /// Journals another request instead of this one: one that means the same whenever it is replayed.
    pub fn journal_as(&mut self, request: &[impl AsRef<[u8]>]) {
        self.journalled = self.database.journal.prepare(request);
    }

    /// Makes the client wait until the list at `key` has an element, and then makes this call again.
    pub fn block(&mut self, key: Bytes, seconds: f64) -> Outcome {
        let timeout = Duration::try_from_secs_f64(seconds).map_err(|_| "ERR timeout is negative")?;
        let deadline = (!timeout.is_zero()).then(|| Instant::now().checked_add(timeout)).flatten();
        let request = std::mem::take(&mut self.arguments);
        let blocked = Blocked { command: self.command, request, key, deadline };
        self.server.waiting.add(self.client.slot, &blocked);
        self.client.blocked = Some(blocked);
        Ok(())
    }
}
