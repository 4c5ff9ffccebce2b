//! What `/proc` says about processes and their threads.

use std::fs;
use std::path::Path;
use std::time::Duration;

use rustix::param::clock_ticks_per_second;

/// A process or thread, as in `/proc/PID/stat`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stat {
    pub pid: u32,
    pub name: String,
    /// One letter: `S` for sleeping, `T` for stopped, `Z` for one that has ended.
    pub state: char,
    pub parent: u32,
    /// When it started, in ticks since boot: with the process ID, it identifies the process.
    pub start: u64,
}

impl Stat {
    /// A process that has not ended.
    pub fn of(pid: u32) -> Option<Stat> {
        Stat::parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?).filter(|stat| stat.state != 'Z')
    }

    /// Whether it is still there.
    pub fn is_alive(&self) -> bool {
        Stat::of(self.pid).is_some_and(|now| now.start == self.start)
    }

    /// How long it has run.
    pub fn age(&self) -> Option<Duration> {
        let uptime = fs::read_to_string("/proc/uptime").ok()?;
        let uptime = Duration::try_from_secs_f64(uptime.split(' ').next()?.parse().ok()?).ok()?;
        let start = Duration::from_secs(self.start) / clock_ticks_per_second() as u32;
        Some(uptime.saturating_sub(start))
    }

    fn parse(text: &str) -> Option<Stat> {
        // The name is in parentheses and may contain any character.
        let (pid, rest) = text.split_once(" (")?;
        let (name, rest) = rest.rsplit_once(") ")?;
        let fields: Vec<&str> = rest.split(' ').collect();
        Some(Stat {
            pid: pid.parse().ok()?,
            name: name.to_owned(),
            state: fields.first()?.chars().next()?,
            parent: fields.get(1)?.parse().ok()?,
            start: fields.get(19)?.parse().ok()?,
        })
    }
}

/// The IDs of all processes.
pub fn pids() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The ID of a process or a thread where it runs, which may be a container; `folder` is its folder in `/proc`.
pub fn inner_id(folder: &Path) -> Option<u32> {
    let status = fs::read_to_string(folder.join("status")).ok()?;
    let ids = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    ids.split_whitespace().last()?.parse().ok()
}

/// The processes that a process started, and those that they started.
pub fn descendants(pid: u32) -> Vec<Stat> {
    let all: Vec<Stat> = pids().filter_map(Stat::of).collect();
    let mut found: Vec<Stat> = Vec::new();
    let mut parents = vec![pid];
    while let Some(parent) = parents.pop() {
        let children = all.iter().filter(|stat| stat.parent == parent);
        for child in children {
            parents.push(child.pid);
            found.push(child.clone());
        }
    }
    found
}

/// The threads of a process, and what each of them waits for, in words.
pub fn threads(pid: u32) -> String {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let mut said: Vec<(String, usize)> = Vec::new();
    for task in tasks {
        let read = |file: &str| fs::read_to_string(task.path().join(file)).unwrap_or_default();
        let Some(stat) = Stat::parse(&read("stat")) else { continue };
        let state = match stat.state {
            'R' => "is running",
            'T' | 't' => "is stopped",
            'Z' => "has ended",
            'D' => "waits for a device",
            _ => "waits",
        };
        // Readable for one's own processes; "0" if the thread does not wait in the kernel.
        let place = read("wchan");
        let place = if place.is_empty() || place == "0" { String::new() } else { format!(" in {place}") };
        let line = format!("{} {state}{place}", stat.name);
        match said.iter_mut().find(|(known, _)| *known == line) {
            Some((_, count)) => *count += 1,
            None => said.push((line, 1)),
        }
    }
    let said =
        said.into_iter().map(|(line, count)| if count > 1 { format!("{count} × {line}") } else { line });
    let said: Vec<String> = said.collect();
    if said.is_empty() { "it has no threads".into() } else { format!("its threads: {}", said.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_contain_anything() {
        let text = "7 (a) S (b) T 3 7 7 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 991 1 1 1";
        let stat = Stat { pid: 7, name: "a) S (b".into(), state: 'T', parent: 3, start: 991 };
        assert_eq!(Stat::parse(text), Some(stat));
    }

    #[test]
    fn a_process_has_just_begun() {
        let mut child = std::process::Command::new("sleep").arg("100").spawn().unwrap();
        let age = Stat::of(child.id()).and_then(|stat| stat.age());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(age.is_some_and(|age| age < Duration::from_secs(60)), "{age:?}");
        let first = Stat::of(1).and_then(|stat| stat.age());
        assert!(first > age, "{first:?}: what started it is older");
    }

    #[test]
    fn threads_are_named() {
        let said = threads(std::process::id());
        assert!(said.starts_with("its threads: ") && said.contains("is running"), "{said}");
    }
}
