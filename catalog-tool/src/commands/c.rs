//! `lttng-catalog c`: headers and sources for C and C++ programs.

use std::fs;
use std::path::PathBuf;

use clap::Args;
use lttng_provider_build::{BuildFile, COptions, License, c_sources};

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

    /// Write LTTng's own macros and USDT probes, and nothing else that runs; the default.
    #[arg(long, conflicts_with = "fast")]
    plain: bool,

    /// Record with one call an event, by a support header for LTTng-UST 2.13 to 2.15, and start without LTTng-UST installed.
    #[arg(long)]
    fast: bool,

    /// Write nothing, and fail if a file in DIR is missing or is not what would be written.
    #[arg(long)]
    check: bool,

    /// Give every event with a duration a USDT probe where it begins, EVENT__start, and the macro trace_…_start() for it.
    ///
    /// Tracers of USDT then time it themselves, as with `entry = true` in the catalog.
    #[arg(long)]
    start_probes: bool,

    /// Give every event with a duration trace_…_stopwatch() and trace_…_stop(), which measure it while it is on.
    #[arg(long)]
    stopwatches: bool,

    /// Write NAME-dtrace.h, with the events as macros in `dtrace -h`'s spelling.
    #[arg(long)]
    dtrace: bool,

    /// Write a fragment for a build system: automake, cmake, make or pkg-config; may be repeated.
    #[arg(long, value_name = "SYSTEM")]
    build: Vec<BuildFile>,

    /// The licence of the files: 0BSD or MIT.
    #[arg(long, value_name = "SPDX", default_value = "0BSD")]
    license: License,
}

pub fn run(options: &Options) -> Result<Outcome, Trouble> {
    let mut catalogs = Vec::new();
    for path in &options.files {
        catalogs.push(files::catalog(path)?);
    }
    if options.start_probes {
        for provider in catalogs.iter_mut().flat_map(|catalog| &mut catalog.providers) {
            let names: Vec<String> = provider.events.iter().map(|event| event.name.clone()).collect();
            // An event may have that name already.
            let is_free = |name: &str| !names.contains(&format!("{name}__start"));
            let timed = provider.events.iter_mut().filter(|event| event.meaning.duration.is_some());
            timed.for_each(|event| event.entry |= is_free(&event.name));
        }
    }
    let mut chosen = COptions::default();
    chosen.fast = options.fast;
    chosen.stopwatches = options.stopwatches;
    chosen.dtrace_macros = options.dtrace;
    chosen.build_files.clone_from(&options.build);
    chosen.license = options.license;
    let generated = c_sources(&catalogs, &chosen).map_err(|clash| Trouble::Failed(clash.to_string()))?;
    let folder = &options.out;
    if !options.check {
        fs::create_dir_all(folder).map_err(|error| Trouble::file(folder, "cannot be made", &error))?;
    }
    let (mut written, mut stale) = (String::new(), Vec::new());
    for file in &generated {
        let path = folder.join(&file.name);
        if fs::read(&path).is_ok_and(|present| present == file.text.as_bytes()) {
            continue;
        }
        if options.check {
            let what = if path.exists() { "is not what the catalogs say" } else { "is missing" };
            stale.push(format!("{}: {what}; run `lttng-catalog c` without --check", path.display()));
            continue;
        }
        files::write(Some(&path), &file.text)?;
        written.push_str(&format!("{}\n", path.display()));
    }
    if !stale.is_empty() {
        return Err(Trouble::Failed(stale.join("\n")));
    }
    files::write(None, &written)?;
    Ok(Outcome::Fine)
}
