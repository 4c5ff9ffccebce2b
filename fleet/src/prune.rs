//! Retention: removes whole days from the tables, and nothing else ever does.

use std::collections::BTreeSet;

use ltt_analysis::text::amount::counted;
use serde_json::json;

use crate::delta;
use crate::host_state::HostPlace;
use crate::store::Store;
use crate::tables::{TABLES, begin_of, date_of, written_date};

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
        let mut place = HostPlace::open_escaped(store, &host)?;
        let mut state = place.state.clone();
        state.traces.values_mut().for_each(|coverage| coverage.forget_before(from));
        state.traces.retain(|_, coverage| !coverage.runs.is_empty());
        if state != place.state {
            place.put(state)?;
        }
    }
    Ok(format!("removed {}; kept those from {day} on", counted(removed.len() as u64, "day")))
}

/// Removes the files that the log of a table has removed, once no reader of an older version needs them.
pub fn vacuum(store: &Store, table: &str, grace_ns: u64) -> Result<(), String> {
    let since = delta::vacuumed_until(store, table)?;
    let until = delta::now_ms().saturating_sub(i64::try_from(grace_ns / 1_000_000).unwrap_or(i64::MAX));
    let removed = delta::read(store, table)?.removed.into_iter();
    for (path, _) in removed.filter(|(_, time)| (since..=until).contains(time)) {
        store.remove(&path)?;
    }
    store.put(&delta::vacuumed_path(table), json!({ "until_ms": until }).to_string().as_bytes())?;
    delta::forget(store, table, until)
}
