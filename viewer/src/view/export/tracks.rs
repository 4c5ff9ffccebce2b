//! The ids and the names of processes and threads in a file.

use std::collections::{BTreeMap, HashSet};

use super::writer::INCIDENTS;
use ltt_analysis::timeline::{Process, Timeline, TimelineRequest};

/// Ids that no process on Linux has.
const FIRST_FREE_ID: i64 = (1 << 22) + 1;

/// The ids of processes and threads in the file.
pub struct Tracks {
    /// Of each thread, by its number.
    pub threads: Vec<(i64, i64)>,
    pub processes: Vec<i64>,
    /// The process of each request.
    pub requests: Vec<i64>,
    pub incidents: i64,
    /// Those of further lanes.
    pub lanes: BTreeMap<(u32, u32), (i64, i64)>,
    used: HashSet<i64>,
    free: i64,
}

impl Tracks {
    /// Ids as they were recorded, where those are unique and possible.
    pub fn new(timeline: &Timeline) -> Self {
        let mut tracks = Tracks {
            threads: Vec::new(),
            processes: Vec::new(),
            requests: Vec::new(),
            incidents: 0,
            lanes: BTreeMap::new(),
            used: HashSet::new(),
            free: FIRST_FREE_ID,
        };
        tracks.processes = timeline.processes.iter().map(|process| tracks.id(process.pid)).collect();
        let of_request = |request: &TimelineRequest| tracks.processes[request.process];
        tracks.requests = timeline.requests.iter().map(of_request).collect();
        tracks.incidents = tracks.id(None);
        tracks.used.clear();
        for thread in &timeline.threads {
            let pid = tracks.processes[thread.process];
            let tid = tracks.id(thread.tid.or(Some(pid)));
            tracks.threads.push((pid, tid));
        }
        tracks
    }

    fn id(&mut self, recorded: Option<i64>) -> i64 {
        let recorded = recorded.filter(|id| (1..FIRST_FREE_ID + (1 << 20)).contains(id));
        match recorded.filter(|id| self.used.insert(*id)) {
            Some(id) => id,
            None => {
                self.free += 1;
                self.used.insert(self.free);
                self.free
            }
        }
    }

    /// The process and the thread of a lane of a track.
    pub fn of(&mut self, track: u32, lane: u32) -> (i64, i64) {
        let first = match track {
            INCIDENTS => (self.incidents, self.incidents),
            thread => self.threads.get(thread as usize).copied().unwrap_or_default(),
        };
        if lane == 0 {
            return first;
        }
        match self.lanes.get(&(track, lane)) {
            Some(known) => *known,
            None => {
                let of_lane = (first.0, self.id(None));
                self.lanes.insert((track, lane), of_lane);
                of_lane
            }
        }
    }
}

/// What a process is called.
pub fn process_name(process: &Process) -> String {
    let name = process.name.as_deref().unwrap_or("process");
    let pid = process.pid.map_or(String::new(), |pid| format!(" {pid}"));
    let host = process.host_name.as_ref().map_or(String::new(), |host| format!(" on {host}"));
    format!("{name}{pid}{host}")
}

/// What a thread is called.
pub fn thread_name(tid: Option<i64>) -> String {
    tid.map_or("all threads".into(), |tid| format!("thread {tid}"))
}

/// What another lane of a track is called.
pub fn lane_name(of: &str, lane: u32) -> String {
    match lane {
        0 => of.to_owned(),
        lane => format!("{of}, at the same time ({lane})"),
    }
}
