//! Finds the threads of the recorded processes.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender};

use super::threads::WatchedThread;
use crate::outcome::warn;
use crate::record::proc;
use crate::record::registration::may_register;

/// The most threads that are sampled, and the most whose files are kept open.
const MOST: usize = 20_000;
const MOST_OPEN: usize = 100;

/// The most new threads that are added at once.
const MOST_NEW: usize = 500;

/// What becomes of the threads that are sampled.
pub enum Change {
    New(Box<WatchedThread>),
    /// These processes are not sampled any more.
    Left(HashSet<u32>),
}

/// Finds threads, and says so to what samples them.
pub struct Finder {
    /// The processes to sample; all that record if there are none.
    chosen: Vec<u32>,
    changes: Sender<Change>,
    /// Threads that are not sampled any more.
    ended: Receiver<u32>,
    /// Each process, and its ID where it runs; those that do not record with the number of searches since they were new.
    processes: HashMap<u32, Result<u32, u32>>,
    /// The threads that are sampled, and whether their files are open.
    known: HashMap<u32, bool>,
    /// Threads that are not sampled: LTTng's own.
    ignored: HashSet<u32>,
    /// Whether it was said that there are too many threads, and that processes cannot be told apart.
    is_told: [bool; 2],
}

impl Finder {
    /// Finds the threads of these processes; of all that record where there are none.
    pub fn new(chosen: Vec<u32>, changes: Sender<Change>, ended: Receiver<u32>) -> Self {
        Finder {
            chosen,
            changes,
            ended,
            processes: HashMap::new(),
            known: HashMap::new(),
            ignored: HashSet::new(),
            is_told: [false; 2],
        }
    }

    /// Whether no thread is known.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// The processes that are sampled, each with its ID where it runs.
    pub fn processes(&self) -> Vec<(u32, u32)> {
        let recorded = self.processes.iter().filter_map(|(pid, inner)| Some((*pid, *inner.as_ref().ok()?)));
        recorded.collect()
    }

    /// Looks for new processes and threads.
    pub fn find(&mut self) {
        for tid in self.ended.try_iter() {
            self.known.remove(&tid);
        }
        let pids: HashSet<u32> = proc::pids().collect();
        self.processes.retain(|pid, _| pids.contains(pid));
        for pid in pids {
            let state = self.processes.entry(pid).or_insert(Err(0));
            let Err(searches) = state else { continue };
            *searches += 1;
            // It may become another program, mostly soon.
            if searches.is_power_of_two() {
                let folder = PathBuf::from(format!("/proc/{pid}"));
                let is_inner = || proc::inner_id(&folder).is_some_and(|inner| self.chosen.contains(&inner));
                let is_chosen = self.chosen.is_empty() || self.chosen.contains(&pid) || is_inner();
                if let Some(inner) = Some(pid).filter(|_| is_chosen).and_then(may_register) {
                    *state = Ok(inner);
                }
            }
        }
        let mut processes = self.processes();
        // The trace does not tell whose samples they are.
        let ambiguous = ambiguous(&processes);
        if let Some((_, inner)) = processes.iter().find(|(pid, _)| ambiguous.contains(pid)) {
            self.tell(
                0,
                &format!("several processes are process {inner} of their container, and are not sampled"),
            );
        }
        processes.retain(|(pid, _)| !ambiguous.contains(pid));
        if !ambiguous.is_empty() {
            _ = self.changes.send(Change::Left(ambiguous));
        }
        let mut open = self.known.values().filter(|is_open| **is_open).count();
        let (mut added, mut ignored) = (0, HashSet::new());
        for (pid, inner) in processes {
            let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
            let tids: Vec<u32> = tasks.filter_map(|task| task.file_name().to_str()?.parse().ok()).collect();
            for tid in tids {
                if self.ignored.contains(&tid) {
                    ignored.insert(tid);
                } else if !self.known.contains_key(&tid) && added < MOST_NEW {
                    if self.known.len() >= MOST {
                        self.tell(1, &format!("more than {MOST} threads: the others are not sampled"));
                        break;
                    }
                    added += 1;
                    match WatchedThread::new(pid, inner, tid, open < MOST_OPEN) {
                        Some(thread) => {
                            open += usize::from(thread.is_open());
                            self.known.insert(tid, thread.is_open());
                            _ = self.changes.send(Change::New(Box::new(thread)));
                        }
                        None => _ = ignored.insert(tid),
                    }
                }
            }
        }
        // Those that ended are forgotten: others may get their IDs.
        self.ignored = ignored;
    }

    fn tell(&mut self, what: usize, message: &str) {
        if !std::mem::replace(&mut self.is_told[what], true) {
            warn(message);
        }
    }
}

/// The processes that have the ID of another one, each in its container.
fn ambiguous(processes: &[(u32, u32)]) -> HashSet<u32> {
    let mut of_id: HashMap<u32, usize> = HashMap::new();
    processes.iter().for_each(|(_, inner)| *of_id.entry(*inner).or_default() += 1);
    processes.iter().filter(|(_, inner)| of_id[inner] > 1).map(|(pid, _)| *pid).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_of_two_containers_with_one_id_are_not_sampled() {
        assert_eq!(ambiguous(&[(100, 1), (200, 1), (300, 2), (400, 400)]), HashSet::from([100, 200]));
    }
}
