//! `lttng-catalog diff`: what changed, and who would notice.

use std::fmt::Write;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use lttng_catalog_cli::diff::{Difference, diff};

use crate::files;
use crate::outcome::{Outcome, Trouble};
use crate::output::{Format, json};

#[derive(Args, Debug)]
pub struct Options {
    /// The catalog as it was.
    #[arg(value_name = "OLD")]
    old: PathBuf,

    /// The catalog as it is.
    #[arg(value_name = "NEW")]
    new: PathBuf,

    /// What makes the exit status 3.
    #[arg(long, value_enum, default_value_t, value_name = "WHAT")]
    fail_on: FailOn,

    /// How to write the result.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum FailOn {
    /// A change that a reader of traces or a caller notices.
    #[default]
    Any,
    /// A change that a reader of traces notices.
    Reader,
    /// A change that a caller notices.
    Caller,
    /// A change that a reader of traces notices, without a higher version.
    Version,
    /// Nothing.
    Never,
}

pub fn run(options: &Options) -> Result<Outcome, Trouble> {
    let difference = diff(&files::catalog(&options.old)?, &files::catalog(&options.new)?);
    let text = match options.format {
        Format::Json => json(&difference) + "\n",
        Format::Table => table(&difference),
    };
    files::write(None, &text)?;
    let fails = match options.fail_on {
        FailOn::Any => difference.reader || difference.caller,
        FailOn::Reader => difference.reader,
        FailOn::Caller => difference.caller,
        FailOn::Version => difference.needs_version(),
        FailOn::Never => false,
    };
    Ok(if fails { Outcome::Noticed } else { Outcome::Fine })
}

fn table(difference: &Difference) -> String {
    let mut text = String::new();
    if difference.changes.is_empty() {
        text.push_str("nothing changed\n");
        return text;
    }
    text.push_str("NOTICED BY      CHANGE\n");
    for change in &difference.changes {
        let by = match (change.reader, change.caller) {
            (true, true) => "reader, caller",
            (true, false) => "reader",
            (false, true) => "caller",
            (false, false) => "nobody",
        };
        let _ = writeln!(text, "{by:<14}  {}: {}", change.place, change.change);
    }
    let readers = difference.changes.iter().filter(|change| change.reader).count();
    let callers = difference.changes.iter().filter(|change| change.caller).count();
    let total = difference.changes.len();
    let _ = writeln!(
        text,
        "{total} change{}; a reader of traces notices {readers}, a caller {callers}",
        if total == 1 { "" } else { "s" }
    );
    let (old, new) = (difference.old_version, difference.new_version);
    if difference.needs_version() {
        let _ = writeln!(text, "the version is {new} and was {old}; raise it, because a reader notices");
    } else if new != old {
        let _ = writeln!(text, "the version is {new} and was {old}");
    }
    text
}
