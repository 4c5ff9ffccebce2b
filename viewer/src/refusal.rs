//! Why a command line is refused, in one line; the parser's own message is a paragraph. All programs have this file.

use std::error::Error;

use clap::error::{ContextKind, ErrorKind};

/// Why there is no command to run, as a message for the user.
pub enum Refusal {
    /// Help or the version was asked for.
    Help(clap::Error),
    /// The command line is wrong; one line.
    Wrong(String),
}

impl From<clap::Error> for Refusal {
    fn from(error: clap::Error) -> Self {
        match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Refusal::Help(error),
            _ => Refusal::Wrong(one_line(&error)),
        }
    }
}

/// What is wrong, and what would be right.
fn one_line(error: &clap::Error) -> String {
    let of = |kind: ContextKind| error.get(kind).map(ToString::to_string).filter(|text| !text.is_empty());
    let argument = of(ContextKind::InvalidArg).unwrap_or_default();
    let what = match (error.kind(), of(ContextKind::InvalidValue)) {
        (ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand, _) => "missing command".to_owned(),
        (ErrorKind::InvalidSubcommand, _) => {
            format!("unknown command '{}'", of(ContextKind::InvalidSubcommand).unwrap_or_default())
        }
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
    let near = [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg, ContextKind::SuggestedValue];
    let near =
        near.into_iter().find_map(of).map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    format!("{what}{reason}{values}{near} (see {} --help)", env!("CARGO_BIN_NAME"))
}
