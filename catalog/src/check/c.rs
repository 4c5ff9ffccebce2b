//! What C demands: names become identifiers and arguments of C functions.
//!
//! LTTng-UST's macros expand a name before they turn it into a string. So a field called `unix` would
//! be recorded as `1`, because compilers on Linux define the macro `unix`, and no compiler warns.

use std::collections::HashMap;

use super::parts::{self, Part};
use crate::error::{Authority, Report};
use crate::model::Catalog;

/// Macros with small letters in the headers that a provider includes. Names in capitals, and names
/// that begin with `__`, `lttng_` or `SYS_`, are refused as a whole.
const MACROS: &str = "
    L_ctermid L_tmpnam P_tmpdir bool do_tracepoint errno false linux sched_priority static_assert
    stderr stdin stdout tp_rcu_dereference tp_rcu_read_lock tp_rcu_read_unlock tracepoint
    tracepoint_enabled true unix
";

/// Invalid names for arguments of a C function.
const KEYWORDS: &[&str] = &[
    "asm", "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum",
    "extern", "float", "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return",
    "short", "signed", "sizeof", "static", "struct", "switch", "typedef", "typeof", "union", "unsigned",
    "void", "volatile", "while",
];

/// Why C refuses a name. An empty name is refused where it is read.
pub(super) fn wrong_name(name: &str) -> Option<String> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    if !name.chars().all(is_part) {
        let better = name.replace(|letter| !is_part(letter), "_");
        let suggestion = match wrong_name(&better) {
            None if name.is_ascii() && better != "_" => format!("; did you mean `{better}`?"),
            _ => String::new(),
        };
        return Some(format!(
            "invalid name: an identifier in C has only ASCII letters, digits and `_`{suggestion}"
        ));
    }
    if name.starts_with(|first: char| first.is_ascii_digit()) {
        return Some("invalid name: an identifier in C does not begin with a digit".to_owned());
    }
    if is_reserved(name) {
        return Some(format!(
            "`{name}` is reserved: names that begin with `__`, or with `_` and a capital, belong to the C compiler; \
             choose another name"
        ));
    }
    if MACROS.split_whitespace().any(|known| known == name) || name.starts_with("SYS_") {
        return Some(format!(
            "`{name}` is a macro in C headers, and its expansion would be recorded instead; choose another name"
        ));
    }
    if name.contains(|letter: char| letter.is_ascii_uppercase())
        && !name.contains(|letter: char| letter.is_ascii_lowercase())
    {
        return Some(format!(
            "names in capitals are macros in C headers, such as `EOF`, and their expansion would be recorded \
             instead; write `{}`",
            name.to_ascii_lowercase()
        ));
    }
    None
}

/// Whether C reserves the name for compilers.
fn is_reserved(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next() == Some('_')
        && letters.next().is_some_and(|second| second == '_' || second.is_ascii_uppercase())
}

/// Why C refuses a good name for an argument.
pub(super) fn wrong_argument(name: &str) -> Option<String> {
    KEYWORDS
        .contains(&name)
        .then(|| format!("`{name}` is a keyword of C; give the argument another name with `arg`"))
}

pub(super) fn check(catalog: &Catalog, report: &mut Report) {
    check_calls(catalog, report);
    check_arguments(catalog, report);
}

/// No two events have the same name in C, where `a:b_c` and `a_b:c` are both `trace_a_b_c`, or as probes.
fn check_calls(catalog: &Catalog, report: &mut Report) {
    let mut taken: HashMap<String, String> = HashMap::new();
    for Part { place, provider, part: event } in parts::events(catalog) {
        let own = format!("{}:{}", provider.name, event.name);
        let mut names = event.c_names(&provider.name);
        names.extend([format!("probe {own}")]);
        names.extend(event.entry.then(|| format!("probe {own}__start")));
        let clash = names.iter().find_map(|name| Some((name, taken.get(name)?)));
        if let Some((name, other)) = clash.filter(|(_, other)| **other != own) {
            let name = name.trim_start_matches("probe ");
            let message =
                format!("C calls this `{name}`, as it does the event `{other}`; rename one of the two");
            report.add(Authority::C, place, message);
        }
        for name in names {
            taken.entry(name).or_insert_with(|| own.clone());
        }
    }
}

/// No two arguments of a function have the same name; a length is an argument, too.
fn check_arguments(catalog: &Catalog, report: &mut Report) {
    for list in parts::field_lists(catalog) {
        let mut taken: HashMap<String, &str> = HashMap::new();
        for (place, field) in parts::fields(&list) {
            let arguments = [Some(field.argument.clone()), field.length_argument()];
            for argument in arguments.into_iter().flatten().filter(|argument| !argument.is_empty()) {
                let other = taken.insert(argument.clone(), &field.name);
                // Two fields of the same name have been refused for that.
                if let Some(other) = other.filter(|other| *other != field.name) {
                    let message = format!(
                        "`{other}` has the C argument `{argument}` already; rename one of the two with `arg`"
                    );
                    report.add(Authority::C, place.value("arg"), message);
                }
            }
        }
    }
}
