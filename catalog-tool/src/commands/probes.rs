//! `lttng-catalog d`, `stp` and `bpftrace`: a catalog's USDT probes for other tools.

use std::path::PathBuf;

use clap::Args;
use lttng_catalog::Catalog;
use lttng_catalog::lowered::LowerError;
use lttng_catalog_cli::probes;

use crate::files;
use crate::outcome::{Outcome, Trouble};

#[derive(Args, Debug)]
pub struct ProviderFile {
    /// The catalog.
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Write to this file instead of the standard output.
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub struct Tapset {
    #[command(flatten)]
    file: ProviderFile,

    /// The program with the probes; by default the catalog's name, which is looked up in PATH.
    #[arg(long, value_name = "PATH")]
    program: Option<String>,
}

#[derive(Args, Debug)]
pub struct Script {
    #[command(flatten)]
    tapset: Tapset,

    /// Print a line for each event, in place of histograms of durations.
    #[arg(long)]
    snoop: bool,
}

pub fn provider_file(options: &ProviderFile) -> Result<Outcome, Trouble> {
    write(options, probes::provider_file)
}

pub fn tapset(options: &Tapset) -> Result<Outcome, Trouble> {
    write(&options.file, |catalog| probes::tapset(catalog, options.program(catalog)))
}

pub fn script(options: &Script) -> Result<Outcome, Trouble> {
    let make = if options.snoop { probes::snoop } else { probes::histograms };
    write(&options.tapset.file, |catalog| make(catalog, options.tapset.program(catalog)))
}

impl Tapset {
    fn program<'a>(&'a self, catalog: &'a Catalog) -> &'a str {
        self.program.as_deref().unwrap_or(&catalog.name)
    }
}

fn write(
    options: &ProviderFile,
    make: impl FnOnce(&Catalog) -> Result<String, LowerError>,
) -> Result<Outcome, Trouble> {
    let catalog = files::catalog(&options.file)?;
    let text = make(&catalog).map_err(|error| Trouble::Failed(error.to_string()))?;
    files::write(options.out.as_deref(), &text)?;
    Ok(Outcome::Fine)
}
