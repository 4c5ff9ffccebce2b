//! Catalogs from the files of other tools: DTrace provider files and LTTng-UST headers.
//!
//! ```text
//! lex ──> expand ──> provider_file (.d) ──> pairs, texts ──┐
//!               └──> header (-tp.h) ───────────────────────┴──> draft ──> write ──> finish: the catalog's own checks
//! ```
//!
//! Each part takes linear time, whatever the file contains.

mod c_type;
mod calls;
mod comments;
mod draft;
mod expand;
mod field_macro;
mod finish;
mod header;
mod lex;
mod lttng_macros;
mod number;
mod options;
mod pairs;
mod problem;
mod provider_file;
mod sources;
mod texts;
mod write;

pub use c_type::CType;
pub use options::Options;
pub use problem::{Problem, Problems};
pub use sources::Sources;

use c_type::Types;

/// A catalog and notes for its user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// The text of the catalog.
    pub text: String,
    /// What was joined or renamed, in the order of the file.
    pub notes: Vec<Problem>,
    /// What a catalog cannot have, in the order of the file; the rest was imported.
    pub left_out: Vec<Problem>,
}

/// Makes a catalog from a DTrace provider file; errors name it `file`.
///
/// ```
/// use lttng_catalog_cli::import::{Options, provider_file};
///
/// let text = "provider shop { /* Something was sold. */ probe sale(int price); };";
/// let imported = provider_file("shop.d", text, &Options::default())?;
/// assert!(imported.text.contains(r#"{ name = "price", type = "i32","#));
/// # Ok::<(), lttng_catalog_cli::import::Problems>(())
/// ```
pub fn provider_file(file: &str, text: &str, options: &Options) -> Result<Imported, Problems> {
    import(file, text, options, |source, types, notes| {
        let mut read = provider_file::read(source, types);
        for provider in &mut read.providers {
            provider.events.iter_mut().for_each(|event| texts::join(event, notes));
            if options.join_pairs {
                pairs::join(provider, notes);
            } else {
                pairs::relate(provider);
            }
        }
        read
    })
}

/// Makes a catalog from an LTTng-UST header; errors name it `file`.
///
/// ```
/// use lttng_catalog_cli::import::{Options, header};
///
/// let text = "TRACEPOINT_EVENT(shop, sale, TP_ARGS(int, price), TP_FIELDS(ctf_integer(int, price, price)))";
/// let imported = header("shop-tp.h", text, &Options::default())?;
/// assert!(imported.text.contains("[provider.shop.event.sale]"));
/// # Ok::<(), lttng_catalog_cli::import::Problems>(())
/// ```
pub fn header(file: &str, text: &str, options: &Options) -> Result<Imported, Problems> {
    import(file, text, options, |source, mut types, notes| {
        types.define_all(&source.tokens);
        header::read(source, &types, notes)
    })
}

fn import(
    file: &str,
    text: &str,
    options: &Options,
    read: impl FnOnce(lex::Source<'_>, Types, &mut Vec<Problem>) -> draft::Draft,
) -> Result<Imported, Problems> {
    let mut types = Types::default();
    options.types.iter().for_each(|(name, meaning)| types.define(name, *meaning));
    let mut notes = Vec::new();
    let (mut source, problems) = lex::lex(text);
    let lexed = if problems.is_empty() { Ok(()) } else { Err(problems) };
    let definitions = options.definitions.join("\n");
    let (predefined, _) = lex::lex(&definitions);
    let pasted = expand::Pasted::default();
    let expanded = lexed.and_then(|()| {
        expand::expand(&source.tokens, &predefined.definitions, &source.definitions, &pasted)
            .map_err(|problem| vec![problem])
    });
    let finished = expanded.and_then(|tokens| {
        source.tokens = tokens;
        let read = read(source, types, &mut notes);
        finish::finish(file, read, options, &mut notes)
    });
    let sorted = |mut problems: Vec<Problem>| {
        problems.sort();
        problems.dedup();
        problems
    };
    match finished {
        Ok((text, left_out)) => Ok(Imported { text, notes: sorted(notes), left_out: sorted(left_out) }),
        Err(problems) => Err(Problems { file: file.to_owned(), problems: sorted(problems) }),
    }
}
