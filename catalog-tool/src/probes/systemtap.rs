//! A tapset for SystemTap: a probe alias for each event, with its arguments under their names.

use lttng_catalog::Catalog;
use lttng_catalog::lowered::{LowerError, ProbePart};

use super::{arguments, each_event, one_line, origin};

/// Words of SystemTap's language, which no variable can have as its name.
const KEYWORDS: &[&str] = &[
    "break", "catch", "continue", "delete", "else", "for", "foreach", "function", "global", "if", "in",
    "limit", "long", "next", "private", "probe", "return", "string", "try", "while",
];

/// The `.stp` file of a catalog's probes in this program.
pub fn tapset(catalog: &Catalog, program: &str) -> Result<String, LowerError> {
    let mut text = format!("/* {} */\n", origin(catalog));
    let program = program.replace('\\', "\\\\").replace('"', "\\\"");
    let alias = |provider: &str, name: &str| {
        format!(
            "probe {provider}.{name} = process(\"{program}\").provider(\"{provider}\").mark(\"{name}\")\n"
        )
    };
    each_event(catalog, |provider, event| {
        let name = &event.source.name;
        if event.probe.has_start {
            let start = format!("{name}__start");
            text.push_str(&format!("\n/* Where `{name}` begins. */\n{}{{\n}}\n", alias(provider, &start)));
        }
        text.push_str(&format!("\n/* {} */\n{}{{\n", one_line(&event.source.doc), alias(provider, name)));
        for (index, argument) in arguments(event).iter().enumerate() {
            let number = index + 1;
            let value = match argument.part {
                ProbePart::Text if argument.is_counted => {
                    format!("user_string_n($arg{number}, $arg{})", number + 1)
                }
                ProbePart::Text => format!("user_string($arg{number})"),
                _ => format!("$arg{number}"),
            };
            let reserved = if KEYWORDS.contains(&argument.name.as_str()) { "_" } else { "" };
            text.push_str(&format!("\t{}{reserved} = {value}\n", argument.name));
        }
        text.push_str("}\n");
    })?;
    Ok(text)
}
