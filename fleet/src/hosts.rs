//! Which traces are whose: the unit of an export is a host with all of its traces.
//!
//! Two machines may have one name. LTTng records the boot ID: boots of one machine follow each other, and those of two machines
//! overlap. The second one then gets a name with its boot ID.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use ctf_reader::{Discovery, Reader, TraceFiles};

use crate::host_state::{APART, HostState};

/// Stands for the name of a host that its traces do not tell.
const UNKNOWN: &str = "unknown";

/// How deep to look for archives below a folder.
const MOST_FOLDERS: usize = 16;

/// A boot of a machine: its ID, and from when to when events were recorded.
type Boot = (String, (i64, i64));

/// The traces of a host.
#[derive(Clone, Debug, Default)]
pub struct Host {
    pub name: String,
    pub traces: Vec<TraceFiles>,
    /// The boot of each trace, where it is known.
    boots: Vec<Option<Boot>>,
    /// Samples of its scheduler, which explain incidents.
    pub samples: Vec<TraceFiles>,
}

/// The hosts, sorted by name, and what cannot be read. Traces are opened one after the other to ask for their host, and closed
/// again: nothing of their packets stays in memory. A name that is given is that of all.
pub fn hosts(events: Discovery, samples: Discovery, name: Option<&str>) -> (Vec<Host>, Vec<String>) {
    let mut damage: Vec<String> = events.damage.iter().map(ToString::to_string).collect();
    let hosts = by_host(events.traces, name, &mut damage);
    // Without samples, or with damaged ones, less is explained.
    let mut samples = by_host(samples.traces, name, &mut Vec::new());
    let with_samples = |mut host: Host| {
        host.samples = samples.remove(&host.name).map(|found| found.traces).unwrap_or_default();
        host
    };
    (hosts.into_values().map(with_samples).collect(), damage)
}

fn by_host(found: Vec<TraceFiles>, given: Option<&str>, damage: &mut Vec<String>) -> BTreeMap<String, Host> {
    let mut hosts: BTreeMap<String, Host> = BTreeMap::new();
    for files in found {
        let reader = match Reader::open_found(Discovery { traces: vec![files.clone()], damage: Vec::new() }) {
            Ok(reader) => reader,
            Err(error) => {
                damage.push(error.to_string());
                continue;
            }
        };
        let trace = reader.traces().into_iter().next().unwrap_or_default();
        let name = given.or_else(|| trace.environment("hostname").filter(|name| !name.is_empty()));
        let name = name.unwrap_or(UNKNOWN).to_owned();
        let times = reader.packets().filter_map(|packet| Some((packet.begin?, packet.end?)));
        let span = times.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)));
        let host = hosts.entry(name.clone()).or_insert_with(|| Host { name, ..Host::default() });
        // Whoever gives a name knows the machine.
        let boot = trace.clock.filter(|_| given.is_none());
        host.boots.push(boot.zip(span).map(|(boot, span)| (boot.to_string(), span)));
        host.traces.push(files);
    }
    hosts
}

impl Host {
    /// The boots, each once, with all of its times.
    pub fn boots(&self) -> BTreeMap<String, (i64, i64)> {
        let mut boots = BTreeMap::new();
        self.boots.iter().flatten().for_each(|(boot, span)| extend(&mut boots, boot, *span));
        boots
    }

    /// Keeps machines of this name apart. `namesakes` are the hosts of the name that are in the tables, the plain one first.
    pub fn apart(self, namesakes: &[HostState]) -> Vec<Host> {
        let mut machines: BTreeMap<String, BTreeMap<String, (i64, i64)>> =
            namesakes.iter().map(|state| (state.host.clone(), state.boots.clone())).collect();
        let mut names: BTreeMap<String, String> = BTreeMap::new();
        let mut given: Vec<Boot> = self.boots().into_iter().collect();
        given.sort_by_key(|(_, span)| span.0);
        for (boot, span) in given {
            let known = machines.iter().find(|(_, boots)| boots.contains_key(&boot)).map(|(name, _)| name);
            let overlaps = |other: &(i64, i64)| span.0 < other.1 && other.0 < span.1;
            let is_taken = machines.get(&self.name).is_some_and(|boots| boots.values().any(overlaps));
            let name = match known {
                Some(known) => known.clone(),
                None if is_taken => format!("{}{APART}{}", self.name, &boot[..8.min(boot.len())]),
                None => self.name.clone(),
            };
            extend(machines.entry(name.clone()).or_default(), &boot, span);
            names.insert(boot, name);
        }
        let mut hosts: BTreeMap<String, Host> = BTreeMap::new();
        for (trace, boot) in self.traces.into_iter().zip(self.boots) {
            let name = boot.as_ref().and_then(|(boot, _)| names.get(boot)).unwrap_or(&self.name).clone();
            let host = hosts.entry(name.clone()).or_insert_with(|| Host { name, ..Host::default() });
            host.traces.push(trace);
            host.boots.push(boot);
        }
        if let Some(mut first) = hosts.first_entry() {
            first.get_mut().samples = self.samples;
        }
        hosts.into_values().collect()
    }
}

/// Notes that a boot has events in a time, too.
pub fn extend(boots: &mut BTreeMap<String, (i64, i64)>, boot: &str, span: (i64, i64)) {
    let known = boots.entry(boot.to_owned()).or_insert(span);
    *known = (known.0.min(span.0), known.1.max(span.1));
}

/// What is given, and the archives below folders that are given; a folder that holds only archives is not a trace itself.
pub fn with_archives(given: &[PathBuf]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in given {
        let path = path.canonicalize().unwrap_or_else(|_| path.clone());
        let before = found.len();
        let has_trace = add_archives(&path, 0, &mut found);
        if has_trace || found.len() == before {
            found.push(path);
        }
    }
    found
}

/// Adds the archives below a folder, and says whether there is a trace that is not in one.
fn add_archives(folder: &Path, depth: usize, archives: &mut Vec<PathBuf>) -> bool {
    let mut has_trace = folder.join("metadata").exists();
    if depth == MOST_FOLDERS || has_trace {
        return has_trace;
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            has_trace |= add_archives(&path, depth + 1, archives);
        } else if [".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.zst"].iter().any(|end| name.ends_with(end)) {
            archives.push(path);
        }
    }
    has_trace
}

/// What to name on another command line for the folder of a trace: itself, or the archive that it is in.
pub fn nameable(folder: &Path) -> &Path {
    folder.ancestors().find(|path| path.exists()).unwrap_or(folder)
}

/// What identifies a trace: its UUID, or else its folder.
pub fn trace_id(trace: &ctf_reader::Trace) -> String {
    match (trace.uuid, trace.folders.first()) {
        (Some(uuid), _) => uuid.to_string(),
        (None, folder) => folder.map(|folder| folder.to_string_lossy().into_owned()).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(boots: &[(&str, i64, i64)]) -> Host {
        let boot = |&(boot, begin, end): &(&str, i64, i64)| Some((boot.to_owned(), (begin, end)));
        let traces = vec![TraceFiles::default(); boots.len()];
        Host { name: "h".into(), traces, boots: boots.iter().map(boot).collect(), ..Host::default() }
    }

    fn names(hosts: &[Host]) -> Vec<(&str, usize)> {
        hosts.iter().map(|host| (host.name.as_str(), host.traces.len())).collect()
    }

    #[test]
    fn machines_of_one_name_stay_apart_and_a_restarted_one_stays_one() {
        let restarted = host(&[("aaaaaaaaa", 0, 10), ("bbbbbbbbb", 20, 30), ("aaaaaaaaa", 11, 12)]);
        assert_eq!(names(&restarted.apart(&[])), [("h", 3)]);
        let two = host(&[("aaaaaaaaa", 0, 10), ("bbbbbbbbb", 5, 30)]);
        assert_eq!(names(&two.apart(&[])), [("h", 1), ("h~bbbbbbbb", 1)]);
        // As in the tables: the second machine keeps its name, and another boot is compared with what is there.
        let known = |host: &str, boot: &str, span| HostState {
            host: host.into(),
            boots: BTreeMap::from([(boot.to_owned(), span)]),
            ..HostState::default()
        };
        let states = [known("h", "aaaaaaaaa", (0, 10)), known("h~bbbbbbbb", "bbbbbbbbb", (5, 30))];
        let given = host(&[("bbbbbbbbb", 40, 50), ("ccccccccc", 3, 4)]);
        assert_eq!(names(&given.apart(&states)), [("h~bbbbbbbb", 1), ("h~cccccccc", 1)]);
    }
}
