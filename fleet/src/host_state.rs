//! What is known of a host in the tables, and how files are added whatever happens.
//!
//! ```text
//! DIR/events/date=D/host=H/KEY-0.parquet     and so for `groups` and `incidents`
//! DIR/_ltt/hosts/H/state.json                which packets the files hold
//! DIR/_ltt/hosts/H/pending.json              what the state will be when these files are in their places
//! DIR/_ltt/staging/KEY/…                     files that are being written; no engine looks here
//! ```
//!
//! All files are complete and on the disk before the first of them moves to its place. Whoever finds `pending.json` completes what
//! it says, or removes those files if not all of them exist any more. So a packet is in the tables or not, and never twice.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::coverage::Coverage;
use crate::delta;
use crate::escape::escaped;
use crate::store::{Lock, Meanwhile, Store};
use crate::tables::NewFile;

/// A host, as it is kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HostState {
    pub host: String,
    /// The number of exports.
    pub exports: u64,
    /// The machine's boots, and from when to when events of each were exported.
    pub boots: BTreeMap<String, (i64, i64)>,
    /// By the trace's UUID, or its folder.
    pub traces: BTreeMap<String, Coverage>,
}

/// Files on their way to their places, and what the state will be then.
#[derive(Debug, Serialize, Deserialize)]
pub struct Pending {
    key: String,
    state: HostState,
    pub files: Vec<NewFile>,
}

/// A host's place in the tables, locked.
pub struct HostPlace<'s> {
    store: &'s Store,
    folder: String,
    pub state: HostState,
    lock: Box<dyn Lock>,
}

impl<'s> HostPlace<'s> {
    /// Opens the place of a host, and completes what a run has left that was killed.
    pub fn open(store: &'s Store, host: &str, meanwhile: Meanwhile<'_>) -> Result<HostPlace<'s>, String> {
        let mut place = HostPlace::open_escaped(store, &escaped(host), meanwhile)?;
        place.state.host = host.to_owned();
        Ok(place)
    }

    /// The same by the name in paths.
    pub fn open_escaped(
        store: &'s Store,
        name: &str,
        meanwhile: Meanwhile<'_>,
    ) -> Result<HostPlace<'s>, String> {
        let lock = store.lock(&format!("locks/{name}"), meanwhile)?;
        let folder = format!("_ltt/hosts/{name}");
        let state = read::<HostState>(store, &format!("{folder}/state.json"))?;
        let state = state.unwrap_or_default();
        let mut place = HostPlace { store, folder, state, lock };
        if let Some(pending) = read::<Pending>(store, &place.path("pending.json"))? {
            place.recover(pending)?;
        }
        Ok(place)
    }

    fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.folder)
    }

    fn recover(&mut self, pending: Pending) -> Result<(), String> {
        let staging = self.store.staging(&pending.key)?;
        if pending.state.exports > self.state.exports {
            let mut are_there = true;
            for file in &pending.files {
                are_there &= staging.join(file.staged()).exists() || self.store.has(&file.path)?;
            }
            if are_there {
                self.publish(&pending, &staging)?;
                delta::add_missing(self.store, &pending.files)?;
                return self.complete(pending);
            }
            pending.files.iter().try_for_each(|file| self.store.remove(&file.path))?;
        }
        self.store.remove(&self.path("pending.json"))?;
        _ = std::fs::remove_dir_all(staging);
        Ok(())
    }

    /// Moves files to their places; [`complete`](HostPlace::complete) makes that final.
    pub fn add(&self, key: &str, state: HostState, files: Vec<NewFile>) -> Result<Pending, String> {
        let staging = self.store.staging(key)?;
        let state = HostState { exports: self.state.exports + 1, ..state };
        let pending = Pending { key: key.to_owned(), state, files };
        self.check()?;
        self.store.put(&self.path("pending.json"), json(&pending)?.as_bytes())?;
        self.publish(&pending, &staging)?;
        Ok(pending)
    }

    fn publish(&self, pending: &Pending, staging: &Path) -> Result<(), String> {
        for file in &pending.files {
            let staged: PathBuf = staging.join(file.staged());
            if staged.exists() {
                self.check()?;
                self.store.publish(&staged, &file.path)?;
            }
        }
        Ok(())
    }

    /// Fails if another process may write this host by now.
    pub fn check(&self) -> Result<(), String> {
        self.lock.check()
    }

    /// Takes over the state of files that are in their places.
    pub fn complete(&mut self, pending: Pending) -> Result<(), String> {
        self.check()?;
        self.store.put(&self.path("state.json"), json(&pending.state)?.as_bytes())?;
        self.store.remove(&self.path("pending.json"))?;
        _ = std::fs::remove_dir_all(self.store.staging(&pending.key)?);
        self.state = pending.state;
        Ok(())
    }

    /// Replaces the state, e.g. by one that has forgotten what is never needed again.
    pub fn put(&mut self, state: HostState) -> Result<(), String> {
        self.store.put(&self.path("state.json"), json(&state)?.as_bytes())?;
        self.state = state;
        Ok(())
    }
}

/// What is known of a host, without its lock.
pub fn peek(store: &Store, host: &str) -> Result<Option<HostState>, String> {
    read(store, &format!("_ltt/hosts/{}/state.json", escaped(host)))
}

/// The hosts in the tables whose names are this one, or this one with a boot ID: their states.
pub fn namesakes(store: &Store, host: &str) -> Result<Vec<HostState>, String> {
    let escaped = escaped(host);
    let names = store.names("_ltt/hosts")?.into_iter();
    let is_namesake = |name: &String| {
        name.strip_prefix(&escaped).is_some_and(|rest| rest.is_empty() || rest.starts_with(APART_ESCAPED))
    };
    let states = names.filter(is_namesake).map(|name| read(store, &format!("_ltt/hosts/{name}/state.json")));
    Ok(states.collect::<Result<Vec<Option<HostState>>, String>>()?.into_iter().flatten().collect())
}

/// Between a name and a boot ID where machines have the same name.
pub const APART: &str = "~";
const APART_ESCAPED: &str = "%7E";

fn read<T: for<'d> Deserialize<'d>>(store: &Store, path: &str) -> Result<Option<T>, String> {
    let Some(bytes) = store.get(path)? else { return Ok(None) };
    let read = serde_json::from_slice(&bytes);
    read.map(Some).map_err(|error| format!("{path}: it is damaged: {error}; restore it from a backup"))
}

fn json(value: &impl Serialize) -> Result<String, String> {
    serde_json::to_string(value).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_boot_id_is_told_from_the_name_before_it() {
        assert_eq!(escaped(APART), APART_ESCAPED);
    }
}
