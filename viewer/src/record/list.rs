//! `ltt-top list`: which processes offer events, and what the catalogs say of them.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};

use ltt_top::text::{escape, short_name};
use lttng_catalog::Catalog;
use serde_json::json;

use super::daemon::Daemon;
use super::processes::{OfferedEvent, OfferingProcess};
use super::registration::registered;
use super::run_folder::RunFolder;
use crate::catalogs::{self, Catalogs};
use crate::cli::{Format, ListOptions};
use crate::outcome::{Outcome, Trouble, warn};

/// Lists the processes.
pub fn run(options: &ListOptions) -> Result<Outcome, Trouble> {
    let run = RunFolder::create(options.clean)?;
    let daemon = Daemon::find_or_start(&run)?;
    let processes = registered(&|| false);
    drop(daemon);
    drop(run);
    let processes = processes?;
    let Catalogs { catalogs, .. } = catalogs::read(&options.catalog, &[]).map_err(Trouble::Failed)?;
    if processes.is_empty() {
        warn(
            "no process offers LTTng-UST events: a program must be built with tracepoints, run as this user or with this \
             user in the group tracing, and have the same LTTNG_HOME",
        );
    }
    let mut out = BufWriter::new(io::stdout().lock());
    match options.format {
        Format::Json => writeln!(out, "{}", json!({ "processes": objects(&processes, &catalogs) }))?,
        Format::Table => table(&processes, &catalogs, &mut out)?,
        Format::Csv => return Err(Trouble::Usage("list has no CSV: write --format json".into())),
    }
    out.flush()?;
    Ok(Outcome::Complete)
}

/// What a catalog says of an event.
fn described<'c>(name: &str, catalogs: &'c [Catalog]) -> Option<&'c lttng_catalog::Event> {
    let (provider, event) = name.split_once(':')?;
    let is_it = |(known, described): &(&lttng_catalog::Provider, &lttng_catalog::Event)| {
        known.name == provider && described.name == event
    };
    catalogs.iter().find_map(|catalog| catalog.events().find(is_it)).map(|(_, event)| event)
}

/// The events of a process by their providers.
fn by_provider(process: &OfferingProcess) -> BTreeMap<&str, Vec<&OfferedEvent>> {
    let mut providers: BTreeMap<&str, Vec<&OfferedEvent>> = BTreeMap::new();
    for event in &process.events {
        let provider = event.name.split_once(':').map_or("", |(provider, _)| provider);
        providers.entry(provider).or_default().push(event);
    }
    providers
}

fn table(processes: &[OfferingProcess], catalogs: &[Catalog], out: &mut dyn Write) -> io::Result<()> {
    for process in processes {
        writeln!(out, "{} {}", process.pid, escape::text(&process.name))?;
        for (provider, mut events) in by_provider(process) {
            writeln!(out, "  {}", escape::text(provider))?;
            events.sort_by_key(|event| &event.name);
            for event in events {
                let name = short_name(&event.name);
                let fields: Vec<String> = event
                    .fields
                    .iter()
                    .map(|(name, kind)| format!("{} {kind}", escape::text(name)))
                    .collect();
                let doc = described(&event.name, catalogs).map(|event| event.doc.as_str());
                let doc = doc.and_then(|doc| doc.lines().next()).filter(|doc| !doc.is_empty());
                let doc = doc.map_or(String::new(), |doc| format!("  {}", escape::text(doc)));
                writeln!(out, "    {}({}){doc}", escape::text(name), fields.join(", "))?;
            }
        }
    }
    Ok(())
}

fn objects(processes: &[OfferingProcess], catalogs: &[Catalog]) -> Vec<serde_json::Value> {
    let event = |event: &OfferedEvent| {
        let described = described(&event.name, catalogs);
        json!({
            "name": event.name,
            "log_level": event.log_level,
            "fields": event.fields.iter().map(|(name, kind)| json!({ "name": name, "type": kind })).collect::<Vec<_>>(),
            "doc": described.map(|event| &event.doc),
            "duration": described.and_then(|event| event.meaning.duration.as_ref()),
        })
    };
    let process = |process: &OfferingProcess| {
        let events: Vec<_> = process.events.iter().map(event).collect();
        json!({ "pid": process.pid, "name": process.name, "events": events })
    };
    processes.iter().map(process).collect()
}
