//! The folder that is written, and how it stays consistent whatever happens.
//!
//! ```text
//! DIR/events/host=H/date=D/KEY-0.parquet     and so for `groups` and `incidents`
//! DIR/_exported/H/KEY.json                   which traces the files with this key hold: they are complete
//! DIR/_exported/H/KEY.partial/…              files that are being written; no engine looks here
//! DIR/_exported/H/lock                       held while a process writes this host
//! ```
//!
//! The key stands for the traces of a host that were exported together. All files are complete and on the disk before the first
//! of them is renamed to its place, and the list is written last: files whose key has no list are remains of a run that was
//! killed, and the next one removes them.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use serde_json::{Value, json};

use crate::hosts::Host;

/// The tables.
pub const TABLES: [&str; 3] = ["events", "groups", "incidents"];

const DAY_NS: i64 = 86_400_000_000_000;

/// Whether a host needs to be exported.
#[derive(Debug, PartialEq, Eq)]
pub enum State {
    /// All of its traces were exported, and have not grown since.
    Exported,
    /// It is to be exported, in place of what was exported under these keys.
    Replaces(Vec<String>),
    /// This trace was exported together with others that are not given.
    Mixed(String),
}

/// The place of a host in the folder, while it is written.
pub struct HostFolder {
    root: PathBuf,
    /// The name of the host, fit for a path.
    name: String,
    key: String,
    /// Where this host's lists are.
    lists: PathBuf,
    _lock: File,
}

impl HostFolder {
    /// Opens a host's place, and locks it.
    pub fn open(root: &Path, host: &Host) -> Result<HostFolder, String> {
        let name = escaped(&host.name);
        let lists = root.join("_exported").join(&name);
        fs::create_dir_all(&lists).map_err(|error| failed(&lists, "create", &error))?;
        let path = lists.join("lock");
        let lock = File::create(&path).map_err(|error| failed(&path, "create", &error))?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive)
            .map_err(|_| format!("{}: another export is writing this host", path.display()))?;
        Ok(HostFolder { root: root.to_owned(), name, key: key(&host.ids), lists, _lock: lock })
    }

    /// Whether the host needs to be exported.
    pub fn state(&self, host: &Host, force: bool) -> Result<State, String> {
        let mut replaced = Vec::new();
        for (key, list) in self.lists()? {
            let traces: Vec<&str> =
                list["traces"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            let is_given = |trace: &&str| host.ids.iter().any(|id| id == trace);
            if key == self.key && list["bytes"] == host.bytes && !force {
                return Ok(State::Exported);
            }
            let shared = traces.iter().copied().find(is_given);
            match shared {
                Some(shared) if !force && !traces.iter().all(is_given) => {
                    return Ok(State::Mixed(shared.to_owned()));
                }
                Some(_) => replaced.push(key),
                None => {}
            }
        }
        Ok(State::Replaces(replaced))
    }

    /// Removes what runs have left that were killed.
    pub fn clean(&self) -> Result<(), String> {
        let complete: BTreeSet<String> = self.lists()?.into_iter().map(|(key, _)| key).collect();
        self.remove_files(|key| !complete.contains(key))?;
        for entry in entries(&self.lists)? {
            if entry.extension().is_some_and(|extension| extension == "partial" || extension == "new") {
                let removed =
                    if entry.is_dir() { fs::remove_dir_all(&entry) } else { fs::remove_file(&entry) };
                removed.map_err(|error| failed(&entry, "remove", &error))?;
            }
        }
        Ok(())
    }

    /// Makes room for files.
    pub fn begin(&self) -> Result<(), String> {
        let partial = self.partial();
        fs::create_dir_all(&partial).map_err(|error| failed(&partial, "create", &error))
    }

    /// Where to write a file of a table until it is complete.
    pub fn temporary(&self, table: &str, date: i64, number: usize) -> PathBuf {
        self.partial().join(format!("{table}-{date}-{number}"))
    }

    /// Puts files into their places, each with its table, date and number, and removes those that they replace.
    pub fn finish(
        &self,
        host: &Host,
        files: &[(PathBuf, &str, i64, usize)],
        replaced: &[String],
        metadata: &[(String, String)],
    ) -> Result<(), String> {
        for key in replaced {
            let path = self.list(key);
            fs::remove_file(&path).map_err(|error| failed(&path, "remove", &error))?;
        }
        self.remove_files(|key| replaced.iter().any(|replaced| replaced == key))?;
        for (temporary, table, date, number) in files {
            let folder = self.of_table(table).join(format!("date={}", written_date(*date)));
            fs::create_dir_all(&folder).map_err(|error| failed(&folder, "create", &error))?;
            let path = folder.join(format!("{}-{number}.parquet", self.key));
            fs::rename(temporary, &path).map_err(|error| failed(&path, "write", &error))?;
        }
        let metadata: serde_json::Map<String, Value> =
            metadata.iter().map(|(key, value)| (key.clone(), json!(value))).collect();
        let list =
            json!({ "traces": host.ids, "bytes": host.bytes, "files": files.len(), "metadata": metadata });
        let (path, new) = (self.list(&self.key), self.list(&self.key).with_extension("new"));
        let written = File::create(&new).and_then(|mut file| {
            file.write_all(format!("{list:#}\n").as_bytes())?;
            file.sync_all()?;
            fs::rename(&new, &path)
        });
        written.map_err(|error| failed(&path, "write", &error))?;
        self.abandon();
        Ok(())
    }

    /// Removes files that are not complete; the next run would do so, too.
    pub fn abandon(&self) {
        _ = fs::remove_dir_all(self.partial());
    }

    /// The keys that are complete, with what their lists say.
    fn lists(&self) -> Result<Vec<(String, Value)>, String> {
        let mut lists = Vec::new();
        for path in entries(&self.lists)? {
            if path.extension().is_some_and(|extension| extension == "json")
                && let Some(key) = path.file_stem().and_then(|key| key.to_str())
                && let Ok(text) = fs::read_to_string(&path)
                && let Ok(list) = serde_json::from_str(&text)
            {
                lists.push((key.to_owned(), list));
            }
        }
        Ok(lists)
    }

    /// Removes the files of a host in all tables whose keys are not wanted.
    fn remove_files(&self, is_unwanted: impl Fn(&str) -> bool) -> Result<(), String> {
        for table in TABLES {
            for date in entries(&self.of_table(table))? {
                for path in entries(&date)? {
                    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                    let key = name.strip_suffix(".parquet").and_then(|name| name.rsplit_once('-'));
                    if key.is_some_and(|(key, _)| is_unwanted(key)) {
                        fs::remove_file(&path).map_err(|error| failed(&path, "remove", &error))?;
                    }
                }
                // Fails unless it is empty.
                _ = fs::remove_dir(&date);
            }
        }
        Ok(())
    }

    fn of_table(&self, table: &str) -> PathBuf {
        self.root.join(table).join(format!("host={}", self.name))
    }

    fn partial(&self) -> PathBuf {
        self.lists.join(format!("{}.partial", self.key))
    }

    fn list(&self, key: &str) -> PathBuf {
        self.lists.join(format!("{key}.json"))
    }
}

/// Creates the folder that is written, if it does not exist.
pub fn create(root: &Path) -> Result<(), String> {
    if root.metadata().is_ok_and(|found| !found.is_dir()) {
        return Err(format!("{}: it is not a folder; name one, which is created", root.display()));
    }
    // All files in such a folder are streams, and what is below it may be read as another trace.
    let whole = std::path::absolute(root).unwrap_or_else(|_| root.to_owned());
    if let Some(trace) = whole.ancestors().find(|folder| folder.join("metadata").is_file()) {
        let (root, trace) = (root.display(), trace.display());
        return Err(format!("{root}: it is within the trace {trace}; choose another folder"));
    }
    fs::create_dir_all(root).map_err(|error| failed(root, "create", &error))
}

/// The day of a time, in days since 1970.
pub fn date_of(time_ns: i64) -> i64 {
    time_ns.div_euclid(DAY_NS)
}

/// A day as engines read it.
fn written_date(date: i64) -> String {
    let days = jiff::Span::new().try_days(date);
    let date = days.and_then(|days| jiff::civil::date(1970, 1, 1).checked_add(days));
    date.map_or_else(|_| "unknown".to_owned(), |date| date.to_string())
}

/// The files and folders in a folder; none if it does not exist.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    match fs::read_dir(folder) {
        Ok(found) => Ok(found.flatten().map(|entry| entry.path()).collect()),
        Err(error)
            if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) =>
        {
            Ok(Vec::new())
        }
        Err(error) => Err(failed(folder, "list", &error)),
    }
}

/// What traces are filed under: the same for the same traces, in any order.
fn key(ids: &[String]) -> String {
    let bytes = ids.iter().flat_map(|id| id.bytes().chain([0]));
    // FNV-1a, twice as wide as would do.
    let hash = bytes.fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128, |hash, byte| {
        (hash ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b)
    });
    format!("{hash:032x}")
}

/// A name as part of a path, as Hive escapes it. A trace is untrusted: the name may be anything.
fn escaped(name: &str) -> String {
    const MOST: usize = 160;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    let escape = |(place, byte): (usize, u8)| match is_plain(byte) || (byte == b'.' && place > 0) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    let escaped: String = name.bytes().enumerate().map(escape).collect();
    if escaped.len() <= MOST { escaped } else { format!("{}-{}", &escaped[..MOST], key(&[name.to_owned()])) }
}

pub fn failed(path: &Path, what: &str, error: &std::io::Error) -> String {
    format!("{}: cannot {what} it: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_named_as_a_path_can_be() {
        assert_eq!(escaped("shard-1.example.org"), "shard-1.example.org");
        assert_eq!(escaped("../etc/x=y"), "%2E./etc/x=y".replace('/', "%2F").replace('=', "%3D"));
        assert_eq!(escaped("ü"), "%C3%BC");
        let (one, other) = (escaped(&"a".repeat(1000)), escaped(&"a".repeat(1001)));
        assert!(one.len() < 200 && one != other, "{one}");
    }

    #[test]
    fn days_begin_at_midnight_before_1970_too() {
        assert_eq!((date_of(0), date_of(-1), date_of(DAY_NS - 1), date_of(DAY_NS)), (0, -1, 0, 1));
        assert_eq!((written_date(0), written_date(-1)), ("1970-01-01".into(), "1969-12-31".into()));
        assert_eq!(written_date(20_408), "2025-11-16");
        assert_eq!(written_date(i64::MAX), "unknown");
    }
}
