//! `lttng-catalog c`: headers and sources for C and C++ programs.

use std::fs;
use std::path::PathBuf;

use clap::Args;
use lttng_provider_build::{GeneratedFile, c_sources};

use crate::files;
use crate::outcome::{Outcome, Trouble};

#[derive(Args, Debug)]
pub struct Options {
    /// The catalogs.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// The folder to write to; it is created if necessary.
    #[arg(long, short, value_name = "DIR")]
    out: PathBuf,

    /// Write nothing, and fail if a file in DIR is missing or is not what would be written.
    #[arg(long)]
    check: bool,

    /// Give every event with a duration a USDT probe where it begins, EVENT__start, and the macro trace_…_start() for it.
    ///
    /// Tracers of USDT then time it themselves, as with `entry = true` in the catalog.
    #[arg(long)]
    start_probes: bool,

    /// The licence of the files, as SPDX names it.
    #[arg(long, value_name = "SPDX", default_value = "MIT OR Apache-2.0", value_parser = licence)]
    license: String,
}

pub fn run(options: &Options) -> Result<Outcome, Trouble> {
    let mut catalogs = Vec::new();
    for path in &options.files {
        catalogs.push(files::catalog(path)?);
    }
    if options.start_probes {
        let events =
            catalogs.iter_mut().flat_map(|catalog| &mut catalog.providers).flat_map(|p| &mut p.events);
        events.for_each(|event| event.entry |= event.meaning.duration.is_some());
    }
    let generated = c_sources(&catalogs).map_err(|clash| Trouble::Failed(clash.to_string()))?;
    let folder = &options.out;
    if !options.check {
        fs::create_dir_all(folder).map_err(|error| Trouble::file(folder, "cannot be made", &error))?;
    }
    let (mut written, mut stale) = (String::new(), Vec::new());
    for file in &generated {
        let path = folder.join(&file.name);
        let text = licensed(file, &options.license);
        if fs::read(&path).is_ok_and(|present| present == text.as_bytes()) {
            continue;
        }
        if options.check {
            let what = if path.exists() { "is not what the catalogs say" } else { "is missing" };
            stale.push(format!("{}: {what}; run `lttng-catalog c` without --check", path.display()));
            continue;
        }
        files::write(Some(&path), &text)?;
        written.push_str(&format!("{}\n", path.display()));
    }
    if !stale.is_empty() {
        return Err(Trouble::Failed(stale.join("\n")));
    }
    files::write(None, &written)?;
    Ok(Outcome::Fine)
}

/// The file with its licence in the first line.
fn licensed(file: &GeneratedFile, license: &str) -> String {
    let is_c = file.name.ends_with(".c") || file.name.ends_with(".h");
    let line = format!("SPDX-License-Identifier: {license}");
    let line = if is_c { format!("/* {line} */\n") } else { format!("# {line}\n") };
    line + &file.text
}

/// Nothing that would end a comment.
fn licence(text: &str) -> Result<String, String> {
    let is_good = |letter: char| letter.is_ascii_alphanumeric() || " .-+():".contains(letter);
    match !text.is_empty() && text.chars().all(is_good) {
        true => Ok(text.to_owned()),
        false => Err("write an SPDX expression, for example BSD-3-Clause".to_owned()),
    }
}
