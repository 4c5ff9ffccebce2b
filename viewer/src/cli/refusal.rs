//! Why a command line is refused, in one line; the parser's own message is a paragraph.

use std::error::Error;

use clap::error::{ContextKind, ErrorKind};
use ltt_analysis::text::suggestion;

/// What is wrong, and what would be right.
pub fn one_line(error: &clap::Error) -> String {
    let of = |kind: ContextKind| error.get(kind).map(ToString::to_string).filter(|text| !text.is_empty());
    let argument = of(ContextKind::InvalidArg).unwrap_or_default();
    let what = match (error.kind(), of(ContextKind::InvalidValue)) {
        (ErrorKind::UnknownArgument, _) => format!("unexpected argument '{argument}'"),
        (ErrorKind::MissingRequiredArgument, _) => format!("missing {argument}"),
        (ErrorKind::ArgumentConflict, _) => {
            let other = of(ContextKind::PriorArg).unwrap_or_default();
            format!("'{argument}' cannot be used with '{other}'")
        }
        (ErrorKind::InvalidValue, None) => format!("'{argument}' needs a value"),
        (ErrorKind::InvalidValue | ErrorKind::ValueValidation, Some(value)) => {
            format!("invalid value '{value}' for '{argument}'")
        }
        (kind, value) => format!("{kind}: '{argument}' {}", value.unwrap_or_default()),
    };
    let reason = error.source().map_or(String::new(), |source| format!(": {source}"));
    let values =
        of(ContextKind::ValidValue).map_or(String::new(), |values| format!(" [possible values: {values}]"));
    let near = of(ContextKind::SuggestedArg).or_else(|| of(ContextKind::SuggestedValue));
    format!("{what}{reason}{values}{} (see ltt-top --help)", suggestion(near.as_deref()))
}
