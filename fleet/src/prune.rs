//! Retention: removes whole days from the tables, and nothing else ever does.

use std::collections::BTreeSet;

use ltt_analysis::text::amount::counted;
use parquet::errors::ParquetError;
use serde_json::json;

use crate::day::{begin_of, date_of, written_date};
use crate::delta;
use crate::host_state::HostPlace;
use crate::incidents;
use crate::store::Store;
use crate::table::TableFile;
use crate::tables::{NewFile, TABLES};

const HORIZON: &str = "_ltt/horizon.json";

/// How long files stay that a log has removed, in nanoseconds, unless somebody says otherwise: an hour.
pub const GRACE: u64 = 3_600_000_000_000;

/// From when on days are kept, in nanoseconds since 1970: what ended before is not exported again.
pub fn horizon(store: &Store) -> Result<i64, String> {
    Ok(delta::number(store, HORIZON, "keep_from_ns")?.unwrap_or(i64::MIN))
}

/// Removes the days that ended more than this long ago; returns what to say.
pub fn prune(store: &Store, keep_ns: u64, grace_ns: u64) -> Result<String, String> {
    let now_ns = delta::now_ms().saturating_mul(1_000_000);
    let first = date_of(now_ns.saturating_sub(i64::try_from(keep_ns).unwrap_or(i64::MAX)));
    let from = begin_of(first).max(horizon(store)?);
    let day = written_date(date_of(from));
    // Before anything is removed: an export that runs now must not bring it back.
    store.put(HORIZON, json!({ "keep_from_ns": from }).to_string().as_bytes())?;
    let mut removed = BTreeSet::new();
    let is_logged = delta::has_logs(store)?;
    keep_a_file(store, &day, is_logged)?;
    for table in TABLES {
        if is_logged {
            delta::change(store, table, "DELETE", |snapshot| {
                let old: Vec<_> = snapshot.files.values().filter(|file| file.date < day).collect();
                removed.extend(old.iter().map(|file| file.date.clone()));
                Ok(old.into_iter().map(|file| delta::removed(file, true)).collect())
            })?;
            vacuum(store, table, grace_ns)?;
            continue;
        }
        for name in store.names(table)? {
            if let Some(date) = name.strip_prefix("date=").filter(|date| *date < &*day) {
                store.remove_folder(&format!("{table}/{name}"))?;
                removed.insert(date.to_owned());
            }
        }
    }
    for host in store.names("_ltt/hosts")? {
        let mut place = HostPlace::open_escaped(store, &host, &mut || Ok(()))?;
        let mut state = place.state.clone();
        state.traces.values_mut().for_each(|coverage| coverage.forget_before(from));
        state.traces.retain(|_, coverage| !coverage.runs.is_empty());
        if state != place.state {
            place.put(state)?;
        }
    }
    Ok(format!("removed {}; kept those from {day} on", counted(removed.len() as u64, "day")))
}

/// Engines refuse a table without files. If all incidents are older than the days that are kept, an empty file stays for them.
fn keep_a_file(store: &Store, day: &str, is_logged: bool) -> Result<(), String> {
    let first_kept = |table: &str| -> Result<Option<String>, String> {
        let names = store.names(table)?;
        let dates = names.iter().filter_map(|name| name.strip_prefix("date=")).filter(|date| *date >= day);
        Ok(dates.min().map(str::to_owned))
    };
    let (Some(date), None) = (first_kept("events")?, first_kept("incidents")?) else { return Ok(()) };
    let host = "none";
    let path = format!("incidents/date={date}/host={host}/empty-0.parquet");
    let complete = store.staging("prune")?.join("empty");
    let unwritable = |error: ParquetError| format!("{path}: {error}");
    let file = incidents::layout().and_then(|layout| TableFile::create(&complete, &layout));
    let size = file.and_then(|file| file.finish(&[])).map_err(unwritable)?;
    store.publish(&complete, &path)?;
    match is_logged {
        true => delta::add(store, &[NewFile::compacted("incidents", &date, host, path, size)]),
        false => Ok(()),
    }
}

/// Removes the files that the log of a table has removed, once no reader of an older version needs them.
pub fn vacuum(store: &Store, table: &str, grace_ns: u64) -> Result<(), String> {
    let since = delta::vacuumed_until(store, table)?;
    let until = delta::now_ms().saturating_sub(i64::try_from(grace_ns / 1_000_000).unwrap_or(i64::MAX));
    let removed = delta::read(store, table)?.removed.into_iter();
    let removed = removed.filter(|(_, time)| (since..=until).contains(time)).map(|(path, _)| path);
    store.remove_all(&removed.collect::<Vec<_>>())?;
    store.put(&delta::vacuumed_path(table), json!({ "until_ms": until }).to_string().as_bytes())?;
    delta::forget(store, table, until)
}
