//! An agent for a host: records for ever within a bound on disk, and moves each finished chunk into the tables.
//!
//! LTTng rotates the session by itself. Each chunk that it has finished is exported and removed then, the oldest first. The tables
//! know what they hold, so the agent keeps no state that could be lost: killed at any moment, it begins again where it was.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::agent_config::Config;
use crate::agent_metrics::Metrics;
use crate::cli::{ExportOptions, tell};
use crate::store::{Store, failed, lock_now};
use crate::summary::Outcome;
use crate::{export, prune};

/// Says in which folder the session writes, in the folder of traces.
const CURRENT: &str = "current";

/// Where chunks go before they are removed: half of a chunk must not be found by the next agent.
const DONE: &str = ".done";

struct Agent {
    config: Config,
    metrics: Metrics,
    /// What was said last, so that it is said once.
    said: BTreeSet<String>,
    pruned: Option<SystemTime>,
}

/// Runs until it is killed.
pub fn run(config: &Path) -> Result<(), String> {
    let config = Config::read(config)?;
    fs::create_dir_all(&config.traces).map_err(|error| failed(&config.traces, "create", &error))?;
    let _lock = lock_now(&config.traces.join("lock"))?;
    // Catches what is wrong with the configuration before anything is recorded.
    Store::open(&config.output)?;
    let interval = config.interval;
    let mut agent = Agent { config, metrics: Metrics::default(), said: BTreeSet::new(), pruned: None };
    loop {
        agent.turn();
        sleep(interval);
    }
}

impl Agent {
    fn turn(&mut self) {
        let recording = self.record();
        self.metrics.is_recording = recording.is_ok();
        let mut troubles: Vec<String> = recording.err().into_iter().collect();
        _ = fs::remove_dir_all(self.config.traces.join(DONE));
        for chunk in self.finished() {
            if let Err(error) = self.export(&chunk) {
                self.metrics.failures += 1;
                troubles.push(format!("{}: {error}", chunk.display()));
            }
        }
        troubles.extend(self.bound().err());
        troubles.extend(self.prune().err());
        if let Some(path) = &self.config.metrics {
            troubles.extend(self.metrics.write(path).err());
        }
        let troubles: BTreeSet<String> = troubles.into_iter().collect();
        troubles.difference(&self.said).for_each(|trouble| tell(&format!("error: {trouble}; trying again")));
        self.said = troubles;
    }

    /// Makes sure that the session records.
    fn record(&self) -> Result<(), String> {
        let Config { session, traces, .. } = &self.config;
        match lttng(["list", session]) {
            Ok(listed) if listed.contains("[active]") => return Ok(()),
            // Somebody stopped it, or this was killed before it was started.
            Ok(_) => _ = lttng(["destroy", session])?,
            Err(_) => {}
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let folder = traces.join(format!("{session}-{now}"));
        lttng(["create".as_ref(), session.as_ref(), "--output".as_ref(), folder.as_os_str()])?;
        let channel = ["enable-channel", "--userspace", "--session", session, "agent"];
        lttng(channel.iter().map(|part| part.to_string()).chain(self.config.channel.iter().cloned()))?;
        let of_channel = ["--userspace", "--session", session, "--channel", "agent"];
        for events in &self.config.events {
            lttng(["enable-event"].into_iter().chain(of_channel).chain([events.as_str()]))?;
        }
        for context in &self.config.contexts {
            lttng(["add-context"].into_iter().chain(of_channel).chain(["--type", context]))?;
        }
        let timer = self.config.rotate.as_micros().to_string();
        // A chunk is at most an eighth of what may wait.
        let size = (self.config.most_disk / 8).max(1 << 20).to_string();
        lttng(["enable-rotation", "--session", session, "--timer", &timer])?;
        lttng(["enable-rotation", "--session", session, "--size", &size])?;
        let current = traces.join(CURRENT);
        fs::write(&current, folder.as_os_str().as_encoded_bytes())
            .map_err(|error| failed(&current, "write", &error))?;
        lttng(["start", session]).map(|_| ())
    }

    /// The chunks that LTTng has finished, the oldest first: those of the session, and all that former sessions have left.
    fn finished(&mut self) -> Vec<PathBuf> {
        let current = fs::read_to_string(self.config.traces.join(CURRENT)).unwrap_or_default();
        let mut chunks = Vec::new();
        for session in folders(&self.config.traces).into_iter().filter(|folder| !folder.ends_with(DONE)) {
            let mut archived = folders(&session.join("archives"));
            let is_over = self.metrics.is_recording && session != Path::new(&current);
            chunks.append(&mut archived);
            if is_over && chunks.iter().all(|chunk| !chunk.starts_with(&session)) {
                chunks.push(session);
            }
        }
        chunks.sort_by_key(|chunk| fs::metadata(chunk).and_then(|chunk| chunk.modified()).ok());
        self.metrics.waiting_chunks = chunks.len() as u64;
        self.metrics.waiting_bytes = size(&self.config.traces);
        chunks
    }

    /// Moves a chunk into the tables.
    fn export(&mut self, chunk: &Path) -> Result<(), String> {
        // LTTng makes chunks in which nothing was recorded.
        if has_metadata(chunk) {
            let config = &self.config;
            let options = ExportOptions {
                host: config.host.clone(),
                catalog: config.catalog.clone(),
                delta: config.delta,
                ..ExportOptions::new(vec![chunk.to_owned()], config.output.clone())
            };
            let summary = export::run(&options)?;
            if matches!(summary.outcome, Outcome::Incomplete) {
                return Err("it is not exported completely".into());
            }
            if summary.waiting > 0 {
                return Err("packets are not complete yet".into());
            }
            self.metrics.exported_events += summary.events;
            self.metrics.exported_chunks += 1;
            self.metrics.last_export = Some(SystemTime::now());
        }
        self.remove(chunk)
    }

    /// Removes a chunk, first of all its name.
    fn remove(&self, chunk: &Path) -> Result<(), String> {
        let done = self.config.traces.join(DONE);
        fs::create_dir_all(&done).map_err(|error| failed(&done, "create", &error))?;
        let gone = done.join(chunk.file_name().unwrap_or_default());
        fs::rename(chunk, &gone).map_err(|error| failed(chunk, "remove", &error))?;
        fs::remove_dir_all(&gone).map_err(|error| failed(&gone, "remove", &error))
    }

    /// Removes the oldest chunks if more wait than may.
    fn bound(&mut self) -> Result<(), String> {
        while size(&self.config.traces) > self.config.most_disk {
            let Some(oldest) = self.finished().into_iter().next() else { return Ok(()) };
            tell(&format!(
                "warning: {}: removed unexported: more waits than most_disk allows",
                oldest.display()
            ));
            self.metrics.dropped_chunks += 1;
            self.remove(&oldest)?;
        }
        Ok(())
    }

    /// Removes old days from the tables, once an hour.
    fn prune(&mut self) -> Result<(), String> {
        let is_due = self.pruned.is_none_or(|last| last.elapsed().is_ok_and(|ago| ago.as_secs() >= 3600));
        let Some(keep) = self.config.keep.filter(|_| is_due) else { return Ok(()) };
        let store = Store::open(&self.config.output)?;
        prune::prune(&store, keep, prune::GRACE)?;
        self.pruned = Some(SystemTime::now());
        Ok(())
    }
}

/// Runs `lttng`, and returns what it prints.
fn lttng<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Result<String, String> {
    let output = Command::new("lttng")
        .args(arguments)
        .output()
        .map_err(|error| format!("cannot run lttng: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(format!("lttng: {}", said.split_whitespace().collect::<Vec<_>>().join(" ")))
}

/// The folders in a folder.
fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
}

fn has_metadata(folder: &Path) -> bool {
    folder.join("metadata").exists() || folders(folder).iter().any(|folder| has_metadata(folder))
}

/// The size of all files below a folder.
fn size(path: &Path) -> u64 {
    match fs::read_dir(path) {
        Ok(entries) => entries.flatten().map(|entry| size(&entry.path())).sum(),
        Err(_) => path.metadata().map_or(0, |file| file.len()),
    }
}
