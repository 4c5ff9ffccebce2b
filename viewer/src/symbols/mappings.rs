//! Where processes had binaries in memory, and when.

use std::collections::HashMap;
use std::sync::Arc;

/// A process: its ID, where that was recorded, and the machine that it ran on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProcessKey<'a> {
    /// The machine, where that was recorded.
    pub host: Option<&'a str>,
    /// The process ID, where that was recorded.
    pub pid: Option<i128>,
}

/// What happened to a process's memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MemoryChange {
    /// A state dump starts: all loaded binaries follow.
    DumpStarts,
    /// A binary is loaded there.
    Loaded { begin: u64, length: u64, path: Arc<str>, is_new: bool },
    /// The binary there is this build.
    Build { begin: u64, id: Arc<[u8]> },
    /// No binary is loaded there any more.
    Unloaded { begin: u64 },
}

/// A binary in the memory of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mapping {
    pub begin: u64,
    length: u64,
    pub path: Arc<str>,
    build_id: Option<Arc<[u8]>>,
    /// When it was recorded that it is there.
    pub since: i64,
    /// When it went.
    until: i64,
    /// Whether it was loaded then, and not only reported then.
    is_new: bool,
}

impl Mapping {
    fn contains(&self, address: u64) -> bool {
        address.checked_sub(self.begin).is_some_and(|offset| offset < self.length)
    }

    fn is_same(&self, other: &Mapping) -> bool {
        (self.begin, &self.path, &self.build_id) == (other.begin, &other.path, &other.build_id)
    }

    pub fn build(&self) -> Build {
        Build { path: Arc::clone(&self.path), id: self.build_id.clone() }
    }
}

/// A build of a file, as far as that was recorded.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Build {
    pub path: Arc<str>,
    pub id: Option<Arc<[u8]>>,
}

/// The binaries of all processes.
#[derive(Debug, Default)]
pub(super) struct Mappings {
    numbers: HashMap<(Option<String>, Option<i128>), usize>,
    processes: Vec<Memory>,
}

/// The memory of a process, or of several that cannot be distinguished.
#[derive(Debug)]
pub(super) struct Memory {
    is_one: bool,
    /// In the order of time until all are known, then sorted by where they begin.
    mappings: Vec<Mapping>,
    /// The length of the longest.
    longest: u64,
}

impl Mappings {
    /// Takes all changes in, in the order of time.
    pub fn new<'a>(changes: impl IntoIterator<Item = (ProcessKey<'a>, i64, MemoryChange)>) -> Mappings {
        let mut all = Mappings::default();
        for (process, timestamp, change) in changes {
            let key = (process.host.map(str::to_owned), process.pid);
            let number = *all.numbers.entry(key).or_insert(all.processes.len());
            if number == all.processes.len() {
                let is_one = process.pid.is_some();
                all.processes.push(Memory { is_one, mappings: Vec::new(), longest: 0 });
            }
            all.processes[number].change(timestamp, change);
        }
        for memory in &mut all.processes {
            // Stable: of those at the same place the later ones stay after the earlier ones.
            memory.mappings.sort_by_key(|mapping| mapping.begin);
            memory.longest = memory.mappings.iter().map(|mapping| mapping.length).max().unwrap_or(0);
        }
        all
    }

    pub fn of(&self, process: &ProcessKey<'_>) -> Option<&Memory> {
        self.processes.get(*self.numbers.get(&(process.host.map(str::to_owned), process.pid))?)
    }
}

impl Memory {
    fn change(&mut self, timestamp: i64, change: MemoryChange) {
        let mappings = &mut self.mappings;
        let is_there =
            |mapping: &&mut Mapping, begin: u64| mapping.begin == begin && mapping.until == i64::MAX;
        match change {
            // Of several processes that cannot be distinguished, one says nothing about the others.
            MemoryChange::DumpStarts | MemoryChange::Unloaded { .. } if !self.is_one => {}
            MemoryChange::DumpStarts => {
                let there = mappings.iter_mut().filter(|mapping| mapping.until == i64::MAX);
                there.for_each(|mapping| mapping.until = timestamp);
            }
            MemoryChange::Unloaded { begin } => {
                let there = mappings.iter_mut().filter(|mapping| is_there(mapping, begin));
                there.for_each(|mapping| mapping.until = timestamp);
            }
            MemoryChange::Loaded { begin, length, path, is_new } => {
                let is_it =
                    |known: &&mut Mapping| (known.begin, known.length, &known.path) == (begin, length, &path);
                let last = mappings.iter_mut().rfind(is_it).filter(|_| !is_new);
                match last {
                    // Reported again: it was there all the time. A different build follows in its own event.
                    Some(again) => again.until = i64::MAX,
                    None => {
                        let (build_id, since, until) = (None, timestamp, i64::MAX);
                        mappings.push(Mapping { begin, length, path, build_id, since, until, is_new });
                    }
                }
            }
            MemoryChange::Build { begin, id } => {
                let there = mappings.iter_mut().rfind(|mapping| is_there(mapping, begin));
                let Some(mapping) = there else { return };
                match &mapping.build_id {
                    Some(known) if *known != id => {
                        let other =
                            Mapping { build_id: Some(id), since: timestamp, is_new: true, ..mapping.clone() };
                        // Processes that cannot be distinguished may have either.
                        mapping.until = if self.is_one { timestamp } else { i64::MAX };
                        mappings.push(other);
                    }
                    _ => mapping.build_id = Some(id),
                }
            }
        }
    }

    /// The binary that was at an address at a time.
    pub fn find(&self, timestamp: i64, address: u64) -> Option<&Mapping> {
        let end = self.mappings.partition_point(|mapping| mapping.begin <= address);
        let least = address.saturating_sub(self.longest);
        let start = self.mappings[..end].partition_point(|mapping| mapping.begin < least);
        let mut there = self.mappings[start..end].iter().filter(|mapping| mapping.contains(address));
        if !self.is_one {
            // It may be any of the processes: only what holds for all of them is known.
            let first = there.next()?;
            return there.all(|other| other.is_same(first)).then_some(first);
        }
        let before =
            there.clone().filter(|mapping| mapping.since <= timestamp).max_by_key(|mapping| mapping.since);
        match before {
            Some(mapping) => Some(mapping).filter(|mapping| timestamp < mapping.until),
            // Threads keep running while the state dump is recorded.
            None => there.find(|mapping| !mapping.is_new),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: ProcessKey<'_> = ProcessKey { host: Some("vm"), pid: Some(1) };
    const ANY: ProcessKey<'_> = ProcessKey { host: Some("vm"), pid: None };

    fn has(begin: u64, path: &str, is_new: bool) -> MemoryChange {
        MemoryChange::Loaded { begin, length: 0x100, path: path.into(), is_new }
    }

    fn path<'m>(
        mappings: &'m Mappings,
        process: &ProcessKey<'_>,
        timestamp: i64,
        address: u64,
    ) -> Option<&'m str> {
        mappings.of(process)?.find(timestamp, address).map(|mapping| &*mapping.path)
    }

    #[test]
    fn an_address_lies_in_what_the_process_had_there_then() {
        let mappings = Mappings::new([
            (ONE, 10, MemoryChange::DumpStarts),
            (ONE, 11, has(0x1000, "/a", false)),
            (ONE, 20, has(0x2000, "/b", true)),
            (ONE, 30, MemoryChange::Unloaded { begin: 0x2000 }),
            (ONE, 40, has(0x2000, "/c", true)),
        ]);
        assert_eq!(path(&mappings, &ONE, 15, 0x1000), Some("/a"));
        assert_eq!(path(&mappings, &ONE, 15, 0x10FF), Some("/a"));
        assert_eq!(path(&mappings, &ONE, 15, 0x1100), None);
        assert_eq!(path(&mappings, &ONE, 15, 0xFFF), None);
        assert_eq!(path(&mappings, &ONE, 5, 0x1000), Some("/a"), "it was there before it was told");
        assert_eq!(path(&mappings, &ONE, 15, 0x2000), None, "it was loaded later");
        assert_eq!(path(&mappings, &ONE, 25, 0x2000), Some("/b"));
        assert_eq!(path(&mappings, &ONE, 35, 0x2000), None);
        assert_eq!(path(&mappings, &ONE, 45, 0x2000), Some("/c"));
        assert_eq!(path(&mappings, &ProcessKey { pid: Some(2), ..ONE }, 15, 0x1000), None);
        assert_eq!(path(&mappings, &ProcessKey { host: None, ..ONE }, 15, 0x1000), None);
        assert_eq!(path(&mappings, &ANY, 15, 0x1000), None);
    }

    #[test]
    fn another_program_in_the_same_process_has_its_own_binaries() {
        let mappings = Mappings::new([
            (ONE, 10, has(0x1000, "/a", false)),
            (ONE, 10, has(0x5000, "/same", false)),
            (ONE, 20, MemoryChange::DumpStarts),
            (ONE, 21, has(0x1000, "/b", false)),
            (ONE, 21, has(0x5000, "/same", false)),
        ]);
        assert_eq!(path(&mappings, &ONE, 19, 0x1000), Some("/a"));
        assert_eq!(path(&mappings, &ONE, 22, 0x1000), Some("/b"));
        assert_eq!(path(&mappings, &ONE, 20, 0x5000), Some("/same"), "told twice, it was there between");
    }

    #[test]
    fn processes_that_cannot_be_told_apart_must_agree() {
        let mappings = Mappings::new([
            (ANY, 10, has(0x1000, "/a", false)),
            (ANY, 11, has(0x1000, "/a", false)),
            (ANY, 12, has(0x1080, "/b", false)),
            (ANY, 13, MemoryChange::DumpStarts),
            (ANY, 14, MemoryChange::Unloaded { begin: 0x1000 }),
        ]);
        assert_eq!(path(&mappings, &ANY, 15, 0x1000), Some("/a"));
        assert_eq!(path(&mappings, &ANY, 15, 0x1080), None, "/a or /b");
        assert_eq!(path(&mappings, &ANY, 15, 0x1100), Some("/b"));
    }

    #[test]
    fn a_build_belongs_to_the_binary_told_before_it() {
        let id = |byte: u8| Arc::from([byte]);
        let mappings = Mappings::new([
            (ONE, 9, MemoryChange::Build { begin: 0x1000, id: id(9) }),
            (ONE, 10, has(0x1000, "/a", false)),
            (ONE, 11, MemoryChange::Build { begin: 0x1000, id: id(1) }),
            (ONE, 20, MemoryChange::DumpStarts),
            (ONE, 21, has(0x1000, "/a", false)),
            (ONE, 22, MemoryChange::Build { begin: 0x1000, id: id(2) }),
        ]);
        let found =
            |timestamp| mappings.of(&ONE).unwrap().find(timestamp, 0x1000).unwrap().build().id.unwrap()[0];
        assert_eq!((found(12), found(22)), (1, 2));
    }

    #[test]
    fn nothing_overflows() {
        let change =
            MemoryChange::Loaded { begin: u64::MAX, length: u64::MAX, path: "/a".into(), is_new: true };
        let mappings = Mappings::new([(ONE, i64::MIN, change)]);
        assert_eq!(path(&mappings, &ONE, i64::MAX - 1, u64::MAX), Some("/a"));
        assert_eq!(path(&mappings, &ONE, 0, 0), None);
    }
}
