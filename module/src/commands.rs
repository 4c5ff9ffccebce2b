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
    /// Whether it has the flag BLOCKING.
    pub is_blocking: bool,
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
    /// Whether its client may wait because of the command itself.
    pub may_wait: bool,
    /// What it may run.
    pub runs: Runs,
    /// Whether commands may be queued or held up from here on, so that not all that begin are called.
    pub delays_others: bool,
    is_container: bool,
    arity: i64,
}

/// A command's place in the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Number(u16);

/// The number of names that are found without hashing them.
const RECENT: usize = 32;

/// All commands, by name.
#[derive(Debug, Default)]
pub struct Commands {
    numbers: HashMap<Box<[u8]>, Number, BuildHasherDefault<Fnv>>,
    commands: Vec<Command>,
    /// The names that were found last, as clients wrote them: a server calls few commands millions of times.
    recent: [(Spelling, Number); RECENT],
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
                may_wait: listed.is_blocking || listed.is_module,
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
    pub fn find<'a>(
        &mut self,
        count: usize,
        name: &[u8],
        second: impl FnOnce() -> &'a [u8],
    ) -> Option<Number> {
        let mut number = self.named(name)?;
        if self.get(number).is_container && count > 1 {
            number = self.search(&[name, b"|", second()])?;
        }
        let (arity, count) = (self.get(number).arity, count as i64);
        (if arity < 0 { count >= -arity } else { count == arity }).then_some(number)
    }

    #[inline]
    fn named(&mut self, name: &[u8]) -> Option<Number> {
        let Some(spelling) = Spelling::of(name) else { return self.search(&[name]) };
        let place = spelling.place();
        let (recent, number) = self.recent[place];
        if recent == spelling {
            return Some(number);
        }
        let number = self.search(&[name])?;
        self.recent[place] = (spelling, number);
        Some(number)
    }

    #[inline(never)]
    fn search(&self, parts: &[&[u8]]) -> Option<Number> {
        let mut buffer = [0; LONGEST];
        let mut length = 0;
        for byte in parts.iter().copied().flatten() {
            *buffer.get_mut(length)? = byte.to_ascii_lowercase();
            length += 1;
        }
        self.numbers.get(&buffer[..length]).copied()
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

/// A name of at most 16 bytes, read as two words that overlap where it is shorter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Spelling {
    words: [u64; 2],
    length: usize,
}

impl Spelling {
    #[inline]
    fn of(name: &[u8]) -> Option<Spelling> {
        let length = name.len();
        let words = if let (Some(first), Some(last), ..=16) = (name.first_chunk(), name.last_chunk(), length)
        {
            [u64::from_ne_bytes(*first), u64::from_ne_bytes(*last)]
        } else if let (Some(first), Some(last), ..8) = (name.first_chunk(), name.last_chunk(), length) {
            [u32::from_ne_bytes(*first).into(), u32::from_ne_bytes(*last).into()]
        } else if let ([first, .., last], ..4) = (name, length) {
            [u64::from(*first) << 8 | u64::from(*last), name[length / 2].into()]
        } else {
            return None;
        };
        Some(Spelling { words, length })
    }

    /// Where it is among the recent ones.
    #[inline]
    fn place(self) -> usize {
        let mixed = (self.words[0] ^ self.words[1].rotate_left(29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> 32) as usize % RECENT
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
            is_blocking: name == "blpop",
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
        let mut table = table();
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
    fn every_name_is_found_again_whatever_was_found_before_it() {
        let mut random = lttng_testing::Random::new(34);
        // Names that share their ends with others of the same length, in two spellings, and unknown ones.
        let name = |index: u64| {
            format!("{}{}{}", "a".repeat(index as usize % 20), index / 20, "a".repeat(index as usize % 3))
        };
        let listed = |index| Listed {
            name: name(index),
            arity: -1,
            is_fast: false,
            is_blocking: false,
            is_module: false,
        };
        let mut table = Commands::new((0..400).map(listed));
        for _ in 0..20_000 {
            let expected = name(random.below(500));
            let written = if random.below(2) == 0 { expected.to_uppercase() } else { expected.clone() };
            let found =
                table.find(1, written.as_bytes(), || b"").map(|number| table.get(number).name.to_string());
            let is_listed = table.numbers.contains_key(expected.as_bytes());
            assert_eq!(found, is_listed.then_some(expected));
        }
    }

    #[test]
    fn sub_command_has_its_own_name() {
        assert_eq!(find(&["CONFIG", "GET", "save"]).as_deref(), Some("get"));
        assert_eq!(find(&["config", "nothing", "save"]), None);
        assert_eq!(find(&["config", &"x".repeat(60), "save"]), None);
    }

    #[test]
    fn table_says_what_a_command_may_run_and_delay() {
        let mut table = table();
        let mut get = |name: &str, count| {
            let number = table.find(count, name.as_bytes(), || b"").expect("a command");
            table.get(number).clone()
        };
        assert_eq!(get("eval", 3).runs, Runs::Script);
        assert_eq!(get("graph.query", 2).runs, Runs::Module);
        assert!(get("multi", 1).delays_others && get("get", 2).is_fast);
        assert_eq!(get("get", 2).runs, Runs::Nothing);
    }
}
