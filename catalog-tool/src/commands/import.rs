//! `lttng-catalog import`: a catalog from the file of another tool.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use lttng_catalog_cli::import::{self, CType};

use crate::files;
use crate::outcome::{Outcome, Trouble, complain, note};

#[derive(Args, Debug)]
pub struct Options {
    /// A DTrace provider file (.d) or an LTTng-UST header (.h).
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// What FILE is, if its name does not end in .d or .h.
    #[arg(long, value_enum, value_name = "KIND")]
    kind: Option<Kind>,

    /// Define a type that FILE uses without defining it, e.g. Oid=u32; may be repeated.
    ///
    /// The type is u8 to u64, i8 to i64, f32, f64, bool, string, or 'u64 hex' for an address.
    #[arg(long = "type", value_name = "NAME=TYPE", value_parser = named_type)]
    types: Vec<(String, CType)>,

    /// Define a constant or macro that FILE uses without defining it, e.g. -D MODES=3; may be repeated.
    #[arg(short = 'D', long = "define", value_name = "NAME[=VALUE]")]
    definitions: Vec<String>,

    /// Make one event with a duration of two probes at a start and an end.
    ///
    /// Its probe has another name and other arguments, so scripts for the two no longer work.
    #[arg(long)]
    join_pairs: bool,

    /// The catalog's name, if it is not that of the first provider.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Write to this file instead of the standard output.
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Do not print what was joined or renamed.
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// A DTrace provider file.
    Dtrace,
    /// An LTTng-UST header.
    Lttng,
}

pub fn run(options: &Options) -> Result<Outcome, Trouble> {
    let file = options.file.display().to_string();
    let ending = options.file.extension().and_then(|ending| ending.to_str());
    let kind = options.kind.or(match ending {
        Some("d") => Some(Kind::Dtrace),
        Some("h" | "hpp" | "hh" | "tp") => Some(Kind::Lttng),
        _ => None,
    });
    let Some(kind) = kind else {
        let message = format!("{file}: neither a .d nor a .h file; say which it is with --kind");
        return Err(Trouble::Failed(message));
    };
    let text = files::text(&options.file)?;
    let said = import::Options {
        types: options.types.clone(),
        join_pairs: options.join_pairs,
        definitions: options.definitions.iter().map(|text| definition(text)).collect(),
        name: options.name.clone(),
    };
    let imported = match kind {
        Kind::Dtrace => import::provider_file(&file, &text, &said),
        Kind::Lttng => import::header(&file, &text, &said),
    };
    let imported = imported.map_err(|problems| Trouble::Failed(problems.to_string()))?;
    files::write(options.out.as_deref(), &imported.text)?;
    if !options.quiet {
        imported.notes.iter().for_each(|said| note(&format!("{file}:{}: {}", said.line, said.message)));
    }
    for left in &imported.left_out {
        complain(&format!("{file}:{}: left out: {}", left.line, left.message));
    }
    Ok(if imported.left_out.is_empty() { Outcome::Fine } else { Outcome::Noticed })
}

/// `#define NAME VALUE`, for `NAME=VALUE` as C compilers take it.
fn definition(text: &str) -> String {
    let (name, value) = text.split_once('=').unwrap_or((text, "1"));
    format!("#define {name} {value}")
}

fn named_type(text: &str) -> Result<(String, CType), String> {
    let (name, kind) = text.split_once('=').ok_or("write NAME=TYPE, for example Oid=u32")?;
    let known = CType::from_spelling(kind.trim());
    let known = known
        .ok_or_else(|| format!("unknown type `{kind}`; write a type such as u32, i64, f64 or string"))?;
    Ok((name.trim().to_owned(), known))
}
