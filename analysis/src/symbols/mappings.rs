//! Where processes had binaries in memory, and when.

use std::collections::{BTreeSet, HashMap};
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
    /// In the order of time.
    mappings: Vec<Mapping>,
    /// Where binaries were, sorted.
    places: Vec<Place>,
}

/// A range of addresses, and the mappings that had exactly this range.
#[derive(Debug)]
struct Place {
    begin: u64,
    length: u64,
    /// The largest offset from 0 that this range or one before it reaches.
    reach: u64,
    /// In the order of time.
    mappings: Vec<usize>,
    /// Whether all of them are the same build.
    is_unanimous: bool,
    /// The first that was there before it was reported.
    first_reported: Option<usize>,
}

impl Mappings {
    /// Takes all changes in, in the order of time.
    pub fn new<'a>(changes: impl IntoIterator<Item = (ProcessKey<'a>, i64, MemoryChange)>) -> Mappings {
        let mut numbers: HashMap<(Option<String>, Option<i128>), usize> = HashMap::new();
        let mut histories: Vec<History> = Vec::new();
        for (process, timestamp, change) in changes {
            let key = (process.host.map(str::to_owned), process.pid);
            let number = *numbers.entry(key).or_insert(histories.len());
            if number == histories.len() {
                histories.push(History { is_one: process.pid.is_some(), ..History::default() });
            }
            histories[number].change(timestamp, change);
        }
        Mappings { numbers, processes: histories.into_iter().map(Memory::new).collect() }
    }

    pub fn of(&self, process: &ProcessKey<'_>) -> Option<&Memory> {
        self.processes.get(*self.numbers.get(&(process.host.map(str::to_owned), process.pid))?)
    }
}

/// The mappings of a process while changes are taken in. No change visits mappings that it does not concern: a process
/// may load and unload plugins a million times.
#[derive(Debug, Default)]
struct History {
    is_one: bool,
    mappings: Vec<Mapping>,
    /// Those that are there, by where they begin.
    there: HashMap<u64, BTreeSet<usize>>,
    /// The last one of each range and path.
    last: HashMap<(u64, u64, Arc<str>), usize>,
}

impl History {
    fn push(&mut self, mapping: Mapping) {
        let number = self.mappings.len();
        self.there.entry(mapping.begin).or_default().insert(number);
        self.last.insert((mapping.begin, mapping.length, Arc::clone(&mapping.path)), number);
        self.mappings.push(mapping);
    }

    fn change(&mut self, timestamp: i64, change: MemoryChange) {
        match change {
            // Of several processes that cannot be distinguished, one says nothing about the others.
            MemoryChange::DumpStarts | MemoryChange::Unloaded { .. } if !self.is_one => {}
            MemoryChange::DumpStarts => {
                let gone = std::mem::take(&mut self.there).into_values().flatten();
                gone.for_each(|number| self.mappings[number].until = timestamp);
            }
            MemoryChange::Unloaded { begin } => {
                let gone = self.there.remove(&begin).into_iter().flatten();
                gone.for_each(|number| self.mappings[number].until = timestamp);
            }
            MemoryChange::Loaded { begin, length, path, is_new } => {
                let known = self.last.get(&(begin, length, Arc::clone(&path))).filter(|_| !is_new);
                match known {
                    // Reported again: it was there all the time. A different build follows in its own event.
                    Some(&again) => {
                        self.mappings[again].until = i64::MAX;
                        self.there.entry(begin).or_default().insert(again);
                    }
                    None => {
                        let (build_id, since, until) = (None, timestamp, i64::MAX);
                        self.push(Mapping { begin, length, path, build_id, since, until, is_new });
                    }
                }
            }
            MemoryChange::Build { begin, id } => {
                let Some(&number) = self.there.get(&begin).and_then(BTreeSet::last) else { return };
                let mapping = &mut self.mappings[number];
                match &mapping.build_id {
                    Some(known) if *known != id => {
                        let other =
                            Mapping { build_id: Some(id), since: timestamp, is_new: true, ..mapping.clone() };
                        // Processes that cannot be distinguished may have either.
                        if self.is_one {
                            mapping.until = timestamp;
                            self.there.entry(begin).or_default().remove(&number);
                        }
                        self.push(other);
                    }
                    _ => mapping.build_id = Some(id),
                }
            }
        }
    }
}

impl Memory {
    fn new(history: History) -> Memory {
        let History { is_one, mappings, .. } = history;
        let mut order: Vec<usize> = (0..mappings.len()).collect();
        // Stable: of those in the same range the later ones stay after the earlier ones.
        order.sort_by_key(|&number| (mappings[number].begin, mappings[number].length));
        let mut places: Vec<Place> = Vec::new();
        for number in order {
            let mapping = &mappings[number];
            let reported = (!mapping.is_new).then_some(number);
            match places.last_mut() {
                Some(place) if (place.begin, place.length) == (mapping.begin, mapping.length) => {
                    place.is_unanimous &= mapping.is_same(&mappings[place.mappings[0]]);
                    place.first_reported = place.first_reported.or(reported);
                    place.mappings.push(number);
                }
                last => {
                    let reach = last.map_or(0, |last| last.reach);
                    places.push(Place {
                        begin: mapping.begin,
                        length: mapping.length,
                        reach: reach.max(mapping.begin.saturating_add(mapping.length)),
                        mappings: vec![number],
                        is_unanimous: true,
                        first_reported: reported,
                    });
                }
            }
        }
        Memory { is_one, mappings, places }
    }

    /// The binary that was at an address at a time.
    pub fn find(&self, timestamp: i64, address: u64) -> Option<&Mapping> {
        let end = self.places.partition_point(|place| place.begin <= address);
        let near = self.places[..end].iter().rev().take_while(|place| place.reach >= address);
        let there = near.filter(|place| address - place.begin < place.length);
        if !self.is_one {
            // It may be any of the processes: only what holds for all of them is known.
            let mut all = there.map(|place| (place.is_unanimous, &self.mappings[place.mappings[0]]));
            let (mut is_known, first) = all.next()?;
            is_known &= all.all(|(is_unanimous, other)| is_unanimous && other.is_same(first));
            return is_known.then_some(first);
        }
        let mut before: Option<usize> = None;
        let mut reported: Option<usize> = None;
        for place in there {
            let count = place.mappings.partition_point(|&number| self.mappings[number].since <= timestamp);
            let last = count.checked_sub(1).map(|last| place.mappings[last]);
            before =
                before.into_iter().chain(last).max_by_key(|&number| (self.mappings[number].since, number));
            reported = place.first_reported.or(reported);
        }
        match before.map(|number| &self.mappings[number]) {
            Some(mapping) => Some(mapping).filter(|mapping| timestamp < mapping.until),
            // Threads keep running while the state dump is recorded.
            None => reported.map(|number| &self.mappings[number]),
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
    fn a_million_changes_take_no_longer_than_they_are_many() {
        const PLUGINS: u64 = 100_000;
        let found = lttng_testing::must_end("changes and questions", || {
            let long =
                MemoryChange::Loaded { begin: 0, length: 1 << 40, path: "/long".into(), is_new: false };
            let load = |number: u64| {
                let (time, begin) = (2 * number as i64, (1 << 41) + (number % 3) * 0x1000);
                let unload = MemoryChange::Unloaded { begin };
                [(ONE, time, has(begin, "/plugin", true)), (ONE, time + 1, unload)]
            };
            let others =
                (0..PLUGINS).map(|number| (ONE, 1, has((1 << 42) + number * 0x1000, "/other", true)));
            let mappings =
                Mappings::new([(ONE, 0, long)].into_iter().chain(others).chain((0..PLUGINS).flat_map(load)));
            let is_found = |number: &u64| {
                let (time, begin) = (2 * *number as i64, (1 << 41) + (number % 3) * 0x1000);
                path(&mappings, &ONE, time, begin) == Some("/plugin")
                    && path(&mappings, &ONE, time + 1, begin).is_none()
                    && path(&mappings, &ONE, time + 1, (1 << 42) + number * 0x1000) == Some("/other")
            };
            (0..PLUGINS).filter(is_found).count()
        });
        // The first others are loaded after the first plugin.
        assert_eq!(found as u64, PLUGINS);
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
