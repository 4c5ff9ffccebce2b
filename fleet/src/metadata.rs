//! What every file says of itself: where it comes from, what its columns rest on, and what is missing.

use std::collections::BTreeSet;

use ctf_reader::{Reader, Report};
use ltt_analysis::meaning::Dictionary;
use serde_json::json;

use crate::hosts::{Host, trace_id};

/// The most places of damage that are listed.
const MOST_DAMAGE: usize = 100;

/// Keys and values for the metadata of the files of an export.
pub fn of_export(
    host: &Host,
    reader: &Reader,
    dictionary: &Dictionary,
    report: &Report,
) -> Vec<(String, String)> {
    let damage: Vec<String> = report.damage.iter().take(MOST_DAMAGE).map(ToString::to_string).collect();
    let sessions: BTreeSet<&str> =
        report.traces.iter().filter_map(|trace| trace.environment("trace_name")).collect();
    let entries = [
        ("version", json!(env!("CARGO_PKG_VERSION"))),
        ("host", json!(host.name)),
        ("traces", json!(report.traces.iter().map(trace_id).collect::<BTreeSet<_>>())),
        ("sessions", json!(sessions)),
        ("catalogs", json!(catalogs(reader, dictionary))),
        ("events", json!(report.events)),
        ("discarded_events", json!(report.discarded_events)),
        ("lost_packets", json!(report.lost_packets)),
        ("clock_steps", json!(report.clock_steps.count)),
        ("damage", json!(damage)),
        ("damaged_places", json!(report.damage.len())),
    ];
    entries.into_iter().map(|(key, value)| (format!("ltt.{key}"), plain(&value))).collect()
}

/// A text as it is, and anything else as JSON.
fn plain(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The names and versions of the catalogs that describe any of the events.
fn catalogs(reader: &Reader, dictionary: &Dictionary) -> BTreeSet<String> {
    let known: BTreeSet<String> =
        reader.classes().filter_map(|class| dictionary.look_up(class).event).collect();
    let describes = |catalog: &&lttng_catalog::Catalog| {
        catalog.events().any(|(provider, event)| known.contains(&format!("{}:{}", provider.name, event.name)))
    };
    let named = |catalog: &lttng_catalog::Catalog| format!("{} {}", catalog.name, catalog.version);
    dictionary.catalogs.iter().filter(describes).map(named).collect()
}
