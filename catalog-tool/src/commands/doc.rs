//! `lttng-catalog doc`: a catalog as a document.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use lttng_catalog_cli::html;

use crate::files;
use crate::outcome::{Outcome, Trouble};

#[derive(Args, Debug)]
pub struct Options {
    /// The catalog.
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// What to write; by default by the ending of --out, else Markdown.
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<Format>,

    /// Write to this file instead of the standard output.
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Markdown, as GitHub renders it.
    Markdown,
    /// One page without scripts.
    Html,
}

pub fn run(options: &Options) -> Result<Outcome, Trouble> {
    let catalog = files::catalog(&options.file)?;
    let ending = options.out.as_ref().and_then(|path| path.extension());
    let is_html = ending.is_some_and(|ending| ending == "html" || ending == "htm");
    let text = match options.format.unwrap_or(if is_html { Format::Html } else { Format::Markdown }) {
        Format::Markdown => lttng_catalog::markdown(&catalog),
        Format::Html => html::page(&catalog),
    };
    files::write(options.out.as_deref(), &text)?;
    Ok(Outcome::Fine)
}
