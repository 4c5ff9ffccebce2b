//! `ltt-top list`: which processes offer events, and what the catalogs say of them.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};

use crate::view::width::fit;
use ltt_analysis::text::amount::counted;
use ltt_analysis::text::{escape, short_name};
use lttng_catalog::Catalog;
use serde_json::json;
use unicode_width::UnicodeWidthStr;

use super::daemon::Daemon;
use super::offering::{OfferedEvent, OfferingProcess};
use super::registration::registered;
use super::run::Run;
use crate::cli::ListOptions;
use crate::outcome::{Outcome, Trouble, warn};
use ltt_analysis::catalogs::{self, Catalogs};

/// Lists the processes.
pub fn run(options: &ListOptions) -> Result<Outcome, Trouble> {
    let run = Run::begin(options.clean)?;
    let daemon = Daemon::find_or_start(&run)?;
    let processes = registered(&|_| true, &|| false);
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
    match options.format.0.name {
        "json" => writeln!(out, "{}", json!({ "processes": objects(&processes, &catalogs) }))?,
        "table" if options.all => table(&processes, &catalogs, &mut out)?,
        "table" => overview(&processes, &mut out)?,
        other => return Err(Trouble::Usage(format!("list cannot be written as {other}: use --format json"))),
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

/// Whether an event is one of LTTng's own, which every process has.
fn is_builtin(provider: &str) -> bool {
    provider.starts_with("lttng_ust")
}

/// A line for each process, as many as fit on a screen, and what can be typed next.
fn overview(processes: &[OfferingProcess], out: &mut dyn Write) -> io::Result<()> {
    let size = terminal_size::terminal_size_of(io::stdout());
    let width = size.map_or(usize::MAX, |(width, _)| width.0.into());
    // Below the processes are the heading, what to type, and the prompt of the shell.
    let room = size.map_or(usize::MAX, |(_, height)| usize::from(height.0).saturating_sub(7).max(1));
    let mut lines =
        vec![("PID".to_owned(), "PROGRAM".to_owned(), "EVENTS".to_owned(), "PROVIDERS".to_owned())];
    let mut example = None;
    for process in processes {
        let mut providers = by_provider(process);
        providers.retain(|provider, _| !is_builtin(provider));
        let count: usize = providers.values().map(Vec::len).sum();
        let names: Vec<String> = providers.keys().map(|provider| escape::text(provider)).collect();
        example =
            example.or_else(|| Some((process.pid, enable(&providers.keys().copied().collect::<Vec<_>>())?)));
        let name = escape::text(process.program());
        lines.push((process.pid.to_string(), name, count.to_string(), names.join(", ")));
    }
    let hidden = (lines.len() - 1).saturating_sub(room);
    lines.truncate(room.saturating_add(1));
    let widest = |column: fn(&(String, String, String, String)) -> &String| {
        lines.iter().map(|line| column(line).width()).max().unwrap_or(0)
    };
    let (pids, names, counts) =
        (widest(|line| &line.0), widest(|line| &line.1).min(30), widest(|line| &line.2));
    for (pid, name, count, providers) in &lines {
        let line = format!("{pid:>pids$}  {}  {count:>counts$}  {providers}", fit(name, names));
        let is_long = line.width() > width;
        writeln!(out, "{}", if is_long { fit(&line, width) } else { line })?;
    }
    if hidden > 0 {
        writeln!(out, "and {}: ltt-top list --all", counted(hidden as u64, "other process"))?;
    }
    if let Some((pid, events)) = example {
        writeln!(out, "\nltt-top record {events} --pid {pid} --for 10s    record ten seconds of a process")?;
        writeln!(out, "ltt-top live {events}    watch what is slow right now")?;
        writeln!(out, "ltt-top list --all    all events, with their fields")?;
    }
    Ok(())
}

/// Options that record all events of these providers, which are in order: what held a program up is found among all of them.
fn enable(providers: &[&str]) -> Option<String> {
    let (first, last) = (providers.first()?, providers.last()?);
    let common = first.bytes().zip(last.bytes()).take_while(|(first, last)| first == last).count();
    let family = first.as_bytes()[..common].iter().rposition(|&byte| byte == b'_').map(|end| &first[..=end]);
    Some(match (providers, family) {
        ([only], _) => format!("-e '{only}:*'"),
        (_, Some(family)) => format!("-e '{family}*'"),
        _ => providers.iter().map(|provider| format!("-e '{provider}:*'")).collect::<Vec<_>>().join(" "),
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_providers_of_a_program_are_enabled() {
        assert_eq!(enable(&["tracee"]).unwrap(), "-e 'tracee:*'");
        assert_eq!(enable(&["valkey_aof", "valkey_commands", "valkey_server"]).unwrap(), "-e 'valkey_*'");
        assert_eq!(enable(&["a", "b_c"]).unwrap(), "-e 'a:*' -e 'b_c:*'");
        assert_eq!(enable(&["é_a", "ê_b"]).unwrap(), "-e 'é_a:*' -e 'ê_b:*'");
        assert_eq!(enable(&[]), None);
    }
}
