//! `lttng-catalog c`: headers and sources for C and C++ programs.

use std::fs;
use std::path::PathBuf;

use clap::Args;
use lttng_provider_build::c_sources;

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
}

pub fn run(options: &Options) -> Result<Outcome, Trouble> {
    let mut catalogs = Vec::new();
    for path in &options.files {
        catalogs.push(files::catalog(path)?);
    }
    let generated = c_sources(&catalogs).map_err(|clash| Trouble::Failed(clash.to_string()))?;
    let folder = &options.out;
    fs::create_dir_all(folder).map_err(|error| Trouble::file(folder, "cannot be made", &error))?;
    let mut written = String::new();
    for file in &generated {
        let path = folder.join(&file.name);
        if fs::read(&path).is_ok_and(|present| present == file.text.as_bytes()) {
            continue;
        }
        files::write(Some(&path), &file.text)?;
        written.push_str(&format!("{}\n", path.display()));
    }
    files::write(None, &written)?;
    Ok(Outcome::Fine)
}
