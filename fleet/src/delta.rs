//! A Delta Lake log beside the files of a table: one version of all files for readers who must not see a half state.
//!
//! ```text
//! DIR/TABLE/_delta_log/00000000000000000000.json     the first version: protocol, schema, files
//! DIR/TABLE/_delta_log/00000000000000000001.json     files that were added or removed since
//! DIR/TABLE/_delta_log/00000000000000000020.checkpoint.parquet     all that counts as of this version
//! DIR/TABLE/_delta_log/_last_checkpoint                            which one that is
//! ```
//!
//! The protocol's JSON is written directly: a version is a file of a few lines, for which the crate `deltalake` would bring Arrow and
//! some 300 crates. Whoever writes a version first wins; others look at it and write the next. Each version repeats in its
//! `commitInfo` what the next one needs to know, so that adding files does not read the whole log.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::checkpoint;
use crate::column::{Kind, OTHER};
use crate::store::Store;
use crate::tables::{NewFile, TABLES};
use crate::{groups, incidents, plan};

/// How often to try while others write versions at the same time.
const MOST_TRIES: usize = 1000;

/// Every version that is a multiple of this one has a checkpoint.
const CHECKPOINT: u64 = 20;

/// A table as of a version.
#[derive(Debug, Default)]
pub struct Snapshot {
    next: u64,
    /// The files, by their paths in the store.
    pub files: BTreeMap<String, LoggedFile>,
    /// Files that were removed, and when, in milliseconds since 1970.
    pub removed: BTreeMap<String, i64>,
    /// The table's schema, as the action that says so.
    metadata: Value,
}

/// A file of a version.
#[derive(Clone, Debug, PartialEq)]
pub struct LoggedFile {
    pub date: String,
    pub host: String,
    action: Value,
}

/// Whether tables have logs.
pub fn has_logs(store: &Store) -> Result<bool, String> {
    Ok(last_version(store, TABLES[0])?.is_some())
}

/// Begins the logs of tables that have no files yet.
pub fn create(store: &Store) -> Result<(), String> {
    if has_logs(store)? {
        return Ok(());
    }
    if !store.names("_ltt/hosts")?.is_empty() {
        return Err("these tables have files without a log: begin one with the first export".into());
    }
    TABLES.into_iter().rev().try_for_each(|table| append(store, table, &[]))
}

/// Adds files to the logs of their tables, as one version of each.
pub fn add(store: &Store, files: &[NewFile]) -> Result<(), String> {
    for table in TABLES {
        let of_table: Vec<&NewFile> = files.iter().filter(|file| file.table == table).collect();
        if !of_table.is_empty() {
            append(store, table, &of_table)?;
        }
    }
    Ok(())
}

/// Adds those files that the logs do not have: whoever was killed may have written a version.
pub fn add_missing(store: &Store, files: &[NewFile]) -> Result<(), String> {
    if !has_logs(store)? {
        return Ok(());
    }
    let mut missing = Vec::new();
    for table in TABLES {
        let snapshot = read(store, table)?;
        let is_missing = |file: &&NewFile| file.table == table && !snapshot.files.contains_key(&file.path);
        missing.extend(files.iter().filter(is_missing).cloned());
    }
    add(store, &missing)
}

fn append(store: &Store, table: &str, files: &[&NewFile]) -> Result<(), String> {
    for _ in 0..MOST_TRIES {
        let last = last_version(store, table)?;
        let mut info = match last {
            Some(last) => info_of(store, table, last)?,
            None => json!({ "id": random_uuid()?, "created": now_ms(), "fields": [] }),
        };
        let known: BTreeSet<String> = info["fields"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|name| name.as_str().map(str::to_owned))
            .collect();
        let fields: BTreeSet<String> =
            known.iter().chain(files.iter().flat_map(|file| &file.fields)).cloned().collect();
        info["fields"] = json!(fields);
        let mut actions = vec![commit_info(&info, "WRITE")];
        if last.is_none() {
            actions.push(protocol());
        }
        if last.is_none() || fields != known {
            actions.push(metadata(table, &info, &fields)?);
        }
        actions.extend(files.iter().map(|file| added(file, true)));
        if write(store, table, last.map_or(0, |last| last + 1), &actions)? {
            return Ok(());
        }
    }
    Err(format!("{table}/_delta_log: others write versions all the time"))
}

/// Writes the version that a change of the newest one makes; none leaves it as it is.
pub fn change(
    store: &Store,
    table: &str,
    operation: &str,
    mut actions: impl FnMut(&Snapshot) -> Result<Vec<Value>, String>,
) -> Result<(), String> {
    for _ in 0..MOST_TRIES {
        let snapshot = read(store, table)?;
        let mut changes = actions(&snapshot)?;
        if changes.is_empty() {
            return Ok(());
        }
        let info = info_of(store, table, snapshot.next.saturating_sub(1))?;
        changes.insert(0, commit_info(&info, operation));
        if write(store, table, snapshot.next, &changes)? {
            return Ok(());
        }
    }
    Err(format!("{table}/_delta_log: others write versions all the time"))
}

/// Reads the newest version of a table.
pub fn read(store: &Store, table: &str) -> Result<Snapshot, String> {
    last_version(store, table)?.map_or_else(|| Ok(Snapshot::default()), |last| read_until(store, table, last))
}

/// Reads a version of a table: the checkpoint before it, and what changed since.
fn read_until(store: &Store, table: &str, last: u64) -> Result<Snapshot, String> {
    let mut snapshot = Snapshot::default();
    let from = last_checkpoint(store, table)?.filter(|version| *version <= last);
    if let Some(version) = from {
        let path = checkpoint_path(table, version);
        let bytes =
            store.get(&path)?.ok_or_else(|| format!("{path}: it is missing, so the log cannot be read"))?;
        let actions = checkpoint::decode(bytes).map_err(|error| format!("{path}: it is damaged: {error}"))?;
        actions.into_iter().for_each(|action| snapshot.apply(table, action));
    }
    for version in from.map_or(0, |version| version + 1)..=last {
        actions_of(store, table, version)?.into_iter().for_each(|action| snapshot.apply(table, action));
    }
    snapshot.next = last + 1;
    Ok(snapshot)
}

impl Snapshot {
    fn apply(&mut self, table: &str, action: Value) {
        if let Some(file) = action.get("add") {
            let part = |name: &str| file["partitionValues"][name].as_str().unwrap_or_default().to_owned();
            let path = path_of(table, file);
            self.removed.remove(&path);
            let logged = LoggedFile { date: part("date"), host: part("host"), action: file.clone() };
            self.files.insert(path, logged);
        } else if let Some(file) = action.get("remove") {
            let path = path_of(table, file);
            self.files.remove(&path);
            self.removed.insert(path, file["deletionTimestamp"].as_i64().unwrap_or_default());
        } else if action.get("metaData").is_some() {
            self.metadata = action;
        }
    }
}

/// Writes all that counts as of a version, so that nobody needs those before.
fn write_checkpoint(store: &Store, table: &str, version: u64) -> Result<(), String> {
    if last_checkpoint(store, table)?.is_some_and(|last| last >= version) {
        // Others were faster, and may have removed what this one would be made of.
        return Ok(());
    }
    let snapshot = read_until(store, table, version)?;
    let mut actions = vec![protocol(), snapshot.metadata];
    actions.extend(snapshot.files.into_values().map(|mut file| {
        file.action["dataChange"] = json!(false);
        json!({ "add": file.action })
    }));
    // What is not needed to remove files that are still there is of no use.
    let since = vacuumed_until(store, table)?;
    let removed = snapshot.removed.iter().filter(|(_, time)| **time >= since);
    actions.extend(removed.map(|(path, time)| {
        json!({ "remove": { "path": logged_path(table, path), "deletionTimestamp": time, "dataChange": false } })
    }));
    let path = checkpoint_path(table, version);
    let bytes = checkpoint::encode(&actions).map_err(|error| format!("{path}: cannot write it: {error}"))?;
    store.put(&path, &bytes)?;
    let last = json!({ "version": version, "size": actions.len() }).to_string();
    store.put(&log_path(table, LAST_CHECKPOINT), last.as_bytes())
}

const LAST_CHECKPOINT: &str = "_last_checkpoint";

fn last_checkpoint(store: &Store, table: &str) -> Result<Option<u64>, String> {
    let version = number(store, &log_path(table, LAST_CHECKPOINT), "version")?;
    Ok(version.and_then(|version| u64::try_from(version).ok()))
}

/// Removes the versions before the last checkpoint, if it was written before this time.
pub fn forget(store: &Store, table: &str, until_ms: i64) -> Result<(), String> {
    let Some(last) = last_checkpoint(store, table)? else { return Ok(()) };
    if info_of(store, table, last)?["timestamp"].as_i64().is_none_or(|time| time >= until_ms) {
        return Ok(());
    }
    let names = store.names(&log_path(table, ""))?;
    let is_old = |name: &&String| {
        name.split('.').next().is_some_and(|name| name.parse().is_ok_and(|version: u64| version < last))
    };
    store.remove_all(&names.iter().filter(is_old).map(|name| log_path(table, name)).collect::<Vec<_>>())
}

/// Until when files that were removed from the log are gone, in milliseconds since 1970.
pub fn vacuumed_until(store: &Store, table: &str) -> Result<i64, String> {
    Ok(number(store, &vacuumed_path(table), "until_ms")?.unwrap_or(i64::MIN))
}

pub fn vacuumed_path(table: &str) -> String {
    format!("_ltt/vacuumed-{table}.json")
}

/// The number of this name in a small file of JSON, if that exists.
pub fn number(store: &Store, path: &str, name: &str) -> Result<Option<i64>, String> {
    let Some(bytes) = store.get(path)? else { return Ok(None) };
    let read = serde_json::from_slice(&bytes).ok().and_then(|value: Value| value[name].as_i64());
    read.map(Some).ok_or_else(|| format!("{path}: it is damaged: remove it, and try again"))
}

/// The action that adds a file; `is_new` unless its rows were in others.
pub fn added(file: &NewFile, is_new: bool) -> Value {
    json!({ "add": {
        "path": logged_path(&file.table, &file.path),
        "partitionValues": { "date": file.date, "host": file.host },
        "size": file.bytes,
        "modificationTime": now_ms(),
        "dataChange": is_new,
        "stats": json!({ "numRecords": file.rows }).to_string(),
    } })
}

/// The action that removes a file; `is_gone` unless its rows are in others.
pub fn removed(file: &LoggedFile, is_gone: bool) -> Value {
    json!({ "remove": {
        "path": file.action["path"],
        "deletionTimestamp": now_ms(),
        "dataChange": is_gone,
        "extendedFileMetadata": true,
        "partitionValues": file.action["partitionValues"],
        "size": file.action["size"],
    } })
}

fn protocol() -> Value {
    json!({ "protocol": { "minReaderVersion": 1, "minWriterVersion": 2 } })
}

fn commit_info(info: &Value, operation: &str) -> Value {
    let mut info = info.clone();
    info["timestamp"] = json!(now_ms());
    info["operation"] = json!(operation);
    info["engineInfo"] = json!(concat!("ltt-parquet ", env!("CARGO_PKG_VERSION")));
    json!({ "commitInfo": info })
}

fn metadata(table: &str, info: &Value, fields: &BTreeSet<String>) -> Result<Value, String> {
    let columns = match table {
        "events" => plan::table().into(),
        "groups" => groups::columns(),
        _ => incidents::columns(),
    };
    let mut named: Vec<(String, Value)> =
        columns.iter().map(|column| (column.name.clone(), json!(delta_type(column.kind)))).collect();
    named.extend(fields.iter().map(|name| (name.clone(), json!(delta_type(plan::kind_of(name))))));
    if table == "events" {
        let map =
            json!({ "type": "map", "keyType": "string", "valueType": "string", "valueContainsNull": true });
        named.push((OTHER.into(), map));
    }
    named.extend([("date".into(), json!("date")), ("host".into(), json!("string"))]);
    let field = |(name, kind): (String, Value)| json!({ "name": name, "type": kind, "nullable": true, "metadata": {} });
    let schema = json!({ "type": "struct", "fields": named.into_iter().map(field).collect::<Vec<_>>() });
    Ok(json!({ "metaData": {
        "id": info["id"],
        "name": table,
        "format": { "provider": "parquet", "options": {} },
        "schemaString": schema.to_string(),
        "partitionColumns": ["date", "host"],
        "configuration": {},
        "createdTime": info["created"],
    } }))
}

fn delta_type(kind: Kind) -> &'static str {
    match kind {
        Kind::Text => "string",
        Kind::Integer => "long",
        Kind::Time => "timestamp",
        Kind::Float => "double",
        Kind::Bool => "boolean",
    }
}

fn last_version(store: &Store, table: &str) -> Result<Option<u64>, String> {
    let names = store.names(&log_path(table, ""))?;
    Ok(names.iter().filter_map(|name| name.strip_suffix(".json")?.parse().ok()).max())
}

fn actions_of(store: &Store, table: &str, version: u64) -> Result<Vec<Value>, String> {
    let path = version_path(table, version);
    let bytes =
        store.get(&path)?.ok_or_else(|| format!("{path}: it is missing, so the log cannot be read"))?;
    let lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let actions: Result<Vec<Value>, _> = lines.map(serde_json::from_slice).collect();
    actions.map_err(|error| format!("{path}: it is damaged: {error}"))
}

/// What a version says for the next one.
fn info_of(store: &Store, table: &str, version: u64) -> Result<Value, String> {
    let mut actions = actions_of(store, table, version)?.into_iter();
    let info = actions.find_map(|mut action| action.get_mut("commitInfo").map(Value::take));
    let info = info.filter(|info| info["fields"].is_array() && info["id"].is_string());
    info.ok_or_else(|| {
        format!("{}: another program wrote it: ltt-parquet alone may", version_path(table, version))
    })
}

fn write(store: &Store, table: &str, version: u64, actions: &[Value]) -> Result<bool, String> {
    let text: String = actions.iter().map(|action| format!("{action}\n")).collect();
    let is_written = store.put_new(&version_path(table, version), text.as_bytes())?;
    if is_written && version > 0 && version.is_multiple_of(CHECKPOINT) {
        write_checkpoint(store, table, version)?;
    }
    Ok(is_written)
}

fn log_path(table: &str, name: &str) -> String {
    format!("{table}/_delta_log/{name}")
}

fn version_path(table: &str, version: u64) -> String {
    log_path(table, &format!("{version:020}.json"))
}

fn checkpoint_path(table: &str, version: u64) -> String {
    log_path(table, &format!("{version:020}.checkpoint.parquet"))
}

fn path_of(table: &str, file: &Value) -> String {
    format!("{table}/{}", file["path"].as_str().unwrap_or_default().replace("%25", "%"))
}

fn logged_path(table: &str, path: &str) -> String {
    path.strip_prefix(table).map_or(path, |path| path.trim_start_matches('/')).replace('%', "%25")
}

pub fn now_ms() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

fn random_uuid() -> Result<String, String> {
    const SOURCE: &str = "/proc/sys/kernel/random/uuid";
    std::fs::read_to_string(SOURCE)
        .map(|uuid| uuid.trim().to_owned())
        .map_err(|error| format!("{SOURCE}: {error}"))
}
