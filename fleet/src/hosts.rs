//! Which traces are whose: the unit of an export is a host with all of its traces.

use std::collections::BTreeMap;

use ctf_reader::{Discovery, Reader, TraceFiles, stream_files};

/// Stands for the name of a host that its traces do not tell.
const UNKNOWN: &str = "unknown";

/// The traces of a host.
#[derive(Clone, Debug)]
pub struct Host {
    pub name: String,
    pub traces: Vec<TraceFiles>,
    /// Samples of its scheduler, which explain incidents.
    pub samples: Vec<TraceFiles>,
    /// What identifies each of them, sorted.
    pub ids: Vec<String>,
    /// The size of all stream files, by which a trace is found to have grown.
    pub bytes: u64,
}

/// The hosts, sorted by name, and what cannot be read. Traces are opened one after the other to ask for their host, and closed
/// again: nothing of their packets stays in memory.
pub fn hosts(events: Discovery, samples: Discovery) -> (Vec<Host>, Vec<String>) {
    let mut damage: Vec<String> = events.damage.iter().map(ToString::to_string).collect();
    let hosts = by_host(events.traces, &mut damage);
    // Without samples, or with damaged ones, less is explained.
    let mut samples = by_host(samples.traces, &mut Vec::new());
    let hosts = hosts.into_iter().map(|(name, traces)| {
        let mut ids: Vec<String> = traces.iter().map(id).collect();
        ids.sort();
        let bytes = traces.iter().flat_map(|trace| &trace.folders).map(|folder| {
            let files = stream_files(folder).unwrap_or_default();
            files.iter().filter_map(|file| file.metadata().ok()).map(|file| file.len()).sum::<u64>()
        });
        Host { bytes: bytes.sum(), samples: samples.remove(&name).unwrap_or_default(), name, traces, ids }
    });
    (hosts.collect(), damage)
}

fn by_host(found: Vec<TraceFiles>, damage: &mut Vec<String>) -> BTreeMap<String, Vec<TraceFiles>> {
    let mut hosts: BTreeMap<String, Vec<TraceFiles>> = BTreeMap::new();
    for files in found {
        match Reader::open_found(Discovery { traces: vec![files.clone()], damage: Vec::new() }) {
            Ok(reader) => {
                let name = reader
                    .traces()
                    .first()
                    .and_then(|trace| trace.environment("hostname").map(str::to_owned));
                hosts
                    .entry(name.filter(|name| !name.is_empty()).unwrap_or_else(|| UNKNOWN.into()))
                    .or_default()
                    .push(files);
            }
            Err(error) => damage.push(error.to_string()),
        }
    }
    hosts
}

/// A trace's UUID, or else its folder.
fn id(trace: &TraceFiles) -> String {
    match (trace.uuid, trace.folders.first()) {
        (Some(uuid), _) => uuid.to_string(),
        (None, Some(folder)) => {
            folder.canonicalize().unwrap_or_else(|_| folder.clone()).to_string_lossy().into_owned()
        }
        (None, None) => String::new(),
    }
}
