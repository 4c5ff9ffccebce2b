//! `lttng-catalog list`: what a program or a process offers to tracers.

use std::fmt::Write;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use clap::Args;
use lttng_catalog_cli::offer::{self, FileOffer, Offer, Probe, Said, UstEvent};
use lttng_catalog_cli::table::{shown, table};

use crate::files;
use crate::outcome::{Outcome, Trouble, note};
use crate::output::{Format, json};

#[derive(Args, Debug)]
pub struct Options {
    /// A program, a library, or the number of a running process.
    #[arg(value_name = "FILE|PID")]
    target: PathBuf,

    /// Describe events by this catalog; may be repeated. Those of Valkey, memcached and Redis are built in.
    #[arg(long, value_name = "FILE")]
    catalog: Vec<PathBuf>,

    /// Inspect FILE only, not the libraries that it needs.
    #[arg(long)]
    no_libraries: bool,

    /// How to write the result.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
}

pub fn run(options: &Options) -> Result<Outcome, Trouble> {
    let mut catalogs = Vec::new();
    for path in &options.catalog {
        catalogs.push(files::catalog(path)?);
    }
    catalogs.extend([lttng_catalog::valkey(), lttng_catalog::memcached(), lttng_catalog::redis()]);
    let offer = match process(&options.target) {
        Some(pid) => offer::of_process(pid),
        None => offer::of_file(&options.target, !options.no_libraries),
    };
    let mut offer = offer.map_err(Trouble::Failed)?;
    offer::explain(&mut offer, &catalogs);
    let text = match options.format {
        Format::Json => json(&offer) + "\n",
        Format::Table => tables(&offer),
    };
    files::write(None, &text)?;
    offer.problems.iter().for_each(|problem| note(problem));
    Ok(if offer.problems.is_empty() { Outcome::Fine } else { Outcome::Noticed })
}

/// The process of this number; a file with such a name is written `./1234`.
fn process(target: &Path) -> Option<u32> {
    target.to_str().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))?.parse().ok()
}

fn tables(offer: &Offer) -> String {
    let mut text = String::new();
    let width = width();
    for file in &offer.files {
        let _ = writeln!(text, "{}", shown(&file.path));
        if !file.events.is_empty() {
            text.push_str(&events(file, offer.pid.is_some(), width));
        }
        if !file.probes.is_empty() {
            text.push_str(&probes(file, offer.pid.is_some(), width));
        }
        text.push('\n');
    }
    let events: usize = offer.files.iter().map(|file| file.events.len()).sum();
    let probes: usize = offer.files.iter().map(|file| file.probes.len()).sum();
    let _ = writeln!(
        text,
        "{}: {events} LTTng-UST events and {probes} USDT probes in {} of {} files",
        shown(&offer.target),
        offer.files.len(),
        offer.searched
    );
    text
}

fn events(file: &FileOffer, is_running: bool, width: Option<usize>) -> String {
    let row = |event: &UstEvent| {
        let mut row = vec![format!("{}:{}", event.provider, event.name)];
        if is_running {
            row.push(match event.enabled {
                Some(true) => "yes".to_owned(),
                Some(false) => "no".to_owned(),
                None => "?".to_owned(),
            });
        }
        row.push(fields(event));
        row.push(match &event.said {
            _ if !event.has_tracepoint => "no code in this file emits it".to_owned(),
            said => doc(said.as_ref()),
        });
        row
    };
    let rows: Vec<_> = file.events.iter().map(row).collect();
    let headers = ["LTTNG-UST EVENT", "RECORDED", "FIELDS", "SAYS"];
    let headers: Vec<_> = headers.into_iter().filter(|header| is_running || *header != "RECORDED").collect();
    table(&headers, &rows, width)
}

/// The fields, or the arguments in C where the fields are elsewhere.
fn fields(event: &UstEvent) -> String {
    match (&event.fields, &event.signature) {
        (Some(fields), _) => {
            let field = |field: &offer::UstField| {
                let note = if field.recorded { "" } else { " (for filters)" };
                format!("{} {}{note}", field.kind, field.name)
            };
            fields.iter().map(field).collect::<Vec<_>>().join(", ")
        }
        (None, Some(signature)) => format!("C: {signature}"),
        (None, None) => "?".to_owned(),
    }
}

fn probes(file: &FileOffer, is_running: bool, width: Option<usize>) -> String {
    let row = |probe: &Probe| {
        let mut row = vec![format!("{}:{}", probe.provider, probe.name)];
        if is_running {
            row.push(match (probe.attached, probe.has_semaphore) {
                (Some(0), _) => "no".to_owned(),
                (Some(tracers), _) => tracers.to_string(),
                (None, true) => "?".to_owned(),
                (None, false) => "no semaphore".to_owned(),
            });
        }
        row.push(probe.sites.to_string());
        row.push(arguments(probe));
        row.push(doc(probe.said.as_ref()));
        row
    };
    let rows: Vec<_> = file.probes.iter().map(row).collect();
    let headers = ["USDT PROBE", "ATTACHED", "SITES", "ARGUMENTS", "SAYS"];
    let headers: Vec<_> = headers.into_iter().filter(|header| is_running || *header != "ATTACHED").collect();
    table(&headers, &rows, width)
}

/// The types, with the names of a catalog whose event has the same number of them.
fn arguments(probe: &Probe) -> String {
    let names = probe.said.as_ref().filter(|said| said.fields.len() == probe.arguments.len());
    let argument = |(index, argument): (usize, &offer::Argument)| match names {
        Some(said) => format!("{} {}", argument.kind, said.fields[index]),
        None => argument.kind.clone(),
    };
    probe.arguments.iter().enumerate().map(argument).collect::<Vec<_>>().join(", ")
}

fn doc(said: Option<&Said>) -> String {
    said.map(|said| said.doc.clone()).unwrap_or_default()
}

/// The width of lines: by COLUMNS, else by the terminal, else unlimited.
fn width() -> Option<usize> {
    let said = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let is_terminal = std::io::stdout().is_terminal();
    said.or_else(|| terminal_size::terminal_size().filter(|_| is_terminal).map(|(width, _)| width.0.into()))
}
