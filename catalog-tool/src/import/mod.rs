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
mod texts;
mod write;

pub use c_type::CType;
pub use options::Options;
pub use problem::{Problem, Problems};

use c_type::Types;

/// A catalog and notes for its user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// The text of the catalog.
    pub text: String,
    /// What was joined, renamed or left out, in the order of the file.
    pub notes: Vec<Problem>,
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
        let mut providers = provider_file::read(source, types)?;
        for provider in &mut providers {
            provider.events.iter_mut().for_each(|event| texts::join(event, notes));
            if !options.keep_pairs {
                pairs::join(provider, notes);
            }
        }
        Ok(providers)
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
    import(file, text, options, |source, types, notes| header::read(source, &types, notes))
}

fn import(
    file: &str,
    text: &str,
    options: &Options,
    read: impl FnOnce(
        lex::Source<'_>,
        Types,
        &mut Vec<Problem>,
    ) -> Result<Vec<draft::DraftProvider>, Vec<Problem>>,
) -> Result<Imported, Problems> {
    let mut types = Types::default();
    options.types.iter().for_each(|(name, meaning)| types.define(name, *meaning));
    let mut notes = Vec::new();
    let (mut source, problems) = lex::lex(text);
    let lexed = if problems.is_empty() { Ok(()) } else { Err(problems) };
    let expanded = lexed
        .and_then(|()| expand::expand(&source.tokens, &source.definitions).map_err(|problem| vec![problem]));
    let read = expanded.and_then(|tokens| {
        source.tokens = tokens;
        read(source, types, &mut notes)
    });
    let finished = read.and_then(|providers| finish::finish(file, providers, options, &mut notes));
    match finished {
        Ok(text) => {
            notes.sort();
            Ok(Imported { text, notes })
        }
        Err(mut problems) => {
            problems.sort();
            problems.dedup();
            Err(Problems { file: file.to_owned(), problems })
        }
    }
}
