//! `lttng-catalog check`: whether files are valid catalogs.

use std::path::PathBuf;

use clap::Args;
use lttng_catalog::lowered::Program;
use lttng_catalog::{Catalog, Errors};
use serde::Serialize;

use crate::files;
use crate::outcome::{Outcome, Trouble};
use crate::output::{Format, json};

#[derive(Args, Debug)]
pub struct Options {
    /// The catalogs.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// How to write the result.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
}

/// The result for one file.
#[derive(Serialize)]
struct Report {
    file: String,
    valid: bool,
    /// `None` if the file is not valid.
    name: Option<String>,
    version: Option<u32>,
    events: Option<usize>,
    errors: Vec<Mistake>,
}

#[derive(Serialize)]
struct Mistake {
    line: Option<usize>,
    column: Option<usize>,
    place: String,
    /// Whose rule is broken: `model`, `LTTng`, `C` or `Rust`.
    authority: String,
    message: String,
}

pub fn run(options: &Options) -> Result<Outcome, Trouble> {
    let mut reports = Vec::new();
    let mut wrong = Vec::new();
    let mut catalogs = Vec::new();
    for path in &options.files {
        let file = path.display().to_string();
        let text = files::text(path)?;
        match Catalog::parse(&file, &text) {
            Ok(catalog) => {
                reports.push(valid(file, &catalog));
                catalogs.push(catalog);
            }
            Err(errors) => {
                wrong.push(errors.to_string());
                reports.push(invalid(file, &errors));
            }
        }
    }
    // What a program that uses all of them would be refused for.
    let together = Program::lower(&catalogs, "").and_then(|program| program.check_c_names());
    wrong.extend(together.err().map(|clash| clash.to_string()));
    match options.format {
        Format::Json => files::write(None, &format!("{}\n", json(&reports)))?,
        Format::Table => {
            let lines: String = reports.iter().map(line).collect();
            files::write(None, &lines)?;
        }
    }
    if wrong.is_empty() { Ok(Outcome::Fine) } else { Err(Trouble::Failed(wrong.join("\n"))) }
}

fn valid(file: String, catalog: &Catalog) -> Report {
    let events = Some(catalog.events().count());
    let (name, version) = (Some(catalog.name.clone()), Some(catalog.version));
    Report { file, valid: true, name, version, events, errors: Vec::new() }
}

fn invalid(file: String, errors: &Errors) -> Report {
    let mistakes = errors.errors.iter().map(|error| Mistake {
        line: error.position.map(|(line, _)| line),
        column: error.position.map(|(_, column)| column),
        place: error.place.to_string(),
        authority: error.authority.to_string(),
        message: error.message.clone(),
    });
    Report { file, valid: false, name: None, version: None, events: None, errors: mistakes.collect() }
}

fn line(report: &Report) -> String {
    match (&report.name, report.version, report.events) {
        (Some(name), Some(version), Some(events)) => {
            format!("{}: {name}, version {version}, {events} events\n", report.file)
        }
        _ => String::new(),
    }
}
