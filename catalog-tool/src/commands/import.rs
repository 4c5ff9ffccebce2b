//! `lttng-catalog import`: a catalog from the file of another tool.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use lttng_catalog_cli::import::{self, CType, Problem, Sources};

use crate::files;
use crate::outcome::{Outcome, Trouble, complain, note};

#[derive(Args, Debug)]
pub struct Options {
    /// DTrace provider files (.d) or LTTng-UST headers (.h), which become one catalog.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

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

    /// Look for files that FILE includes in this folder; may be repeated.
    ///
    /// Macros, constants, types and events of theirs are known; other includes are skipped.
    #[arg(short = 'I', long = "include", value_name = "DIR")]
    folders: Vec<PathBuf>,

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
    let kinds: Vec<Option<Kind>> = options.files.iter().map(|path| options.kind.or(kind_of(path))).collect();
    if let Some(index) = kinds.iter().position(|kind| kind.is_none_or(|kind| Some(kind) != kinds[0])) {
        let file = options.files[index].display();
        return Err(Trouble::Failed(match kinds[index] {
            None => format!("{file}: neither a .d nor a .h file; say which it is with --kind"),
            Some(_) => format!("{file}: one catalog is of .d files or of .h files; import them separately"),
        }));
    }
    let mut sources = Sources::default();
    for path in &options.files {
        sources.add(path, &files::text(path)?, &options.folders, &|path| {
            files::text(path).map_err(|_| std::io::ErrorKind::NotFound.into())
        });
    }
    let said = import::Options {
        types: options.types.clone(),
        join_pairs: options.join_pairs,
        definitions: options.definitions.iter().map(|text| definition(text)).collect(),
        name: options.name.clone(),
    };
    let names: Vec<String> = options.files.iter().map(|path| path.display().to_string()).collect();
    let import = if kinds[0] == Some(Kind::Dtrace) { import::provider_file } else { import::header };
    let located = |problem: &Problem, what: &str| {
        let (path, line) = sources.locate(problem.line);
        format!("{}:{line}: {what}{}", path.display(), problem.message)
    };
    let imported = import(&names.join(", "), &sources.text, &said).map_err(|problems| {
        let lines: Vec<String> = problems.problems.iter().map(|problem| located(problem, "")).collect();
        Trouble::Failed(lines.join("\n"))
    })?;
    files::write(options.out.as_deref(), &imported.text)?;
    if !options.quiet {
        imported.notes.iter().for_each(|said| note(&located(said, "")));
    }
    imported.left_out.iter().for_each(|left| complain(&located(left, "left out: ")));
    Ok(if imported.left_out.is_empty() { Outcome::Fine } else { Outcome::Noticed })
}

fn kind_of(path: &Path) -> Option<Kind> {
    match path.extension()?.to_str()? {
        "d" => Some(Kind::Dtrace),
        "h" | "hpp" | "hh" | "tp" => Some(Kind::Lttng),
        _ => None,
    }
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
