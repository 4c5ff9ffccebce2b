//! The commands of a server, as its own COMMAND lists them.
//!
//! What clients send is looked up here, so that only what the server would call is recorded: not unknown names, which a
//! client could make up without end, nor a wrong number of arguments.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::sequence::Runs;

/// The longest name that is looked up; a container and its sub-command together.
const LONGEST: usize = 64;

/// The largest number of commands that are kept.
const MOST: usize = 4096;

/// What the server says about one command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The name; `container|name` for a sub-command.
    pub name: String,
    /// The number of arguments with the name itself; negative if it is the smallest number.
    pub arity: i64,
    /// Whether it has the flag FAST.
    pub is_fast: bool,
    /// Whether it belongs to a module.
    pub is_module: bool,
}

/// A command of the table.
#[derive(Clone, Debug)]
pub struct Command {
    /// The name as it is recorded: of a sub-command only its own.
    pub name: Box<str>,
    /// Whether it has the flag FAST.
    pub is_fast: bool,
    /// What it may run.
    pub runs: Runs,
    /// Whether commands may be queued or held up from here on, so that not all that begin are called.
    pub delays_others: bool,
    is_container: bool,
    arity: i64,
}

/// A command's place in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number(u16);

/// All commands, by name.
#[derive(Debug, Default)]
pub struct Commands {
    numbers: HashMap<Box<[u8]>, Number, BuildHasherDefault<Fnv>>,
    commands: Vec<Command>,
}

impl Commands {
    /// The table of what a server lists.
    pub fn new(listed: impl IntoIterator<Item = Listed>) -> Commands {
        let mut table = Commands::default();
        for listed in listed.into_iter().take(MOST) {
            let name = listed.name.to_ascii_lowercase();
            let (container, own) =
                name.split_once('|').map_or((None, name.as_str()), |(container, own)| (Some(container), own));
            if let Some(Number(number)) =
                container.and_then(|container| table.numbers.get(container.as_bytes()))
            {
                table.commands[usize::from(*number)].is_container = true;
            }
            let runs = match own {
                _ if listed.is_module => Runs::Module,
                "eval" | "evalsha" | "eval_ro" | "evalsha_ro" | "fcall" | "fcall_ro" | "exec" => Runs::Script,
                _ => Runs::Nothing,
            };
            let number = Number(table.commands.len() as u16);
            table.commands.push(Command {
                name: own.into(),
                is_fast: listed.is_fast,
                runs,
                delays_others: matches!(
                    name.as_str(),
                    "multi" | "client|pause" | "failover" | "cluster|failover"
                ),
                is_container: false,
                arity: listed.arity,
            });
            table.numbers.insert(name.into_bytes().into(), number);
        }
        table
    }

    /// The command that these arguments call; `None` if the server would refuse them.
    #[inline]
    pub fn find<'a>(&self, count: usize, name: &[u8], second: impl FnOnce() -> &'a [u8]) -> Option<Number> {
        let mut buffer = [0; LONGEST];
        let length = name.len();
        lower(name, buffer.get_mut(..length)?);
        let mut number = *self.numbers.get(&buffer[..length])?;
        if self.get(number).is_container && count > 1 {
            let second = second();
            let end = length + 1 + second.len();
            *buffer.get_mut(length)? = b'|';
            lower(second, buffer.get_mut(length + 1..end)?);
            number = *self.numbers.get(&buffer[..end])?;
        }
        let (arity, count) = (self.get(number).arity, count as i64);
        (if arity < 0 { count >= -arity } else { count == arity }).then_some(number)
    }

    /// A command of the table.
    #[inline]
    pub fn get(&self, number: Number) -> &Command {
        &self.commands[usize::from(number.0)]
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.commands.len()
    }
}

fn lower(from: &[u8], to: &mut [u8]) {
    for (from, to) in from.iter().zip(to) {
        *to = from.to_ascii_lowercase();
    }
}

/// FNV-1a: names are short, and the server, not a client, says what is in the table.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn write_usize(&mut self, _length: usize) {}

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Commands {
        let listed = |name: &str, arity, is_module| Listed {
            name: name.to_owned(),
            arity,
            is_fast: name == "get",
            is_module,
        };
        Commands::new([
            listed("get", 2, false),
            listed("EVAL", -3, false),
            listed("config", -2, false),
            listed("config|get", -3, false),
            listed("multi", 1, false),
            listed("graph.query", -2, true),
        ])
    }

    fn find(arguments: &[&str]) -> Option<String> {
        let table = table();
        let number = table.find(arguments.len(), arguments[0].as_bytes(), || arguments[1].as_bytes())?;
        Some(table.get(number).name.to_string())
    }

    #[test]
    fn command_is_found_in_any_case_and_with_the_right_number_of_arguments() {
        assert_eq!(find(&["GeT", "key"]).as_deref(), Some("get"));
        assert_eq!(find(&["get"]), None);
        assert_eq!(find(&["get", "key", "more"]), None);
        assert_eq!(find(&["eval", "return 1", "0", "more"]).as_deref(), Some("eval"));
        assert_eq!(find(&["no such command"]), None);
        assert_eq!(find(&[&"x".repeat(65)]), None);
    }

    #[test]
    fn sub_command_has_its_own_name() {
        assert_eq!(find(&["CONFIG", "GET", "save"]).as_deref(), Some("get"));
        assert_eq!(find(&["config", "nothing", "save"]), None);
        assert_eq!(find(&["config", &"x".repeat(60), "save"]), None);
    }

    #[test]
    fn table_says_what_a_command_may_run_and_delay() {
        let table = table();
        let get =
            |name: &str, count| table.get(table.find(count, name.as_bytes(), || b"").expect("a command"));
        assert_eq!(get("eval", 3).runs, Runs::Script);
        assert_eq!(get("graph.query", 2).runs, Runs::Module);
        assert!(get("multi", 1).delays_others && get("get", 2).is_fast);
        assert_eq!(get("get", 2).runs, Runs::Nothing);
    }
}
