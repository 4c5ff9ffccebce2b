//! Rules for names, which become parts of C symbols, C arguments and Rust names.
//!
//! LTTng-UST's macros expand a name before they make a string of it. So a field called `unix` would
//! be recorded as `1`, because compilers on Linux define the macro `unix`; no compiler says a word.

use crate::error::Report;
use crate::place::Place;

/// The longest name that LTTng keeps whole, in bytes.
pub(super) const LONGEST: usize = 255;

/// Macros with small letters in the headers that a provider includes; those in capitals, and those
/// that begin with `__`, `lttng_` or `SYS_`, are refused as a whole.
const MACROS: &[&str] = &[
    "L_ctermid",
    "L_tmpnam",
    "P_tmpdir",
    "bool",
    "do_tracepoint",
    "errno",
    "false",
    "linux",
    "sched_priority",
    "static_assert",
    "stderr",
    "stdin",
    "stdout",
    "tp_rcu_dereference",
    "tp_rcu_read_lock",
    "tp_rcu_read_unlock",
    "tracepoint",
    "tracepoint_enabled",
    "true",
    "unix",
];

/// What no argument of a C function can be called.
const C_KEYWORDS: &[&str] = &[
    "asm", "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum",
    "extern", "float", "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return",
    "short", "signed", "sizeof", "static", "struct", "switch", "typedef", "typeof", "union", "unsigned",
    "void", "volatile", "while",
];

/// What the macros use in the functions that they make of an event: an argument would hide it.
const USED_BY_MACROS: &[&str] = &[
    "abort", "int16_t", "int32_t", "int64_t", "int8_t", "memcpy", "size_t", "strlen", "uint16_t", "uint32_t",
    "uint64_t", "uint8_t",
];

/// The words that Rust does not take as a raw identifier either.
const NOT_IN_RUST: &[&str] = &["self", "Self", "super", "crate", "_"];

/// Checks the name of a provider, event, class, enum or field; true if it is good.
pub(super) fn check_name(name: &str, place: &Place, report: &mut Report) -> bool {
    let wrong = wrong_name(name);
    let is_good = wrong.is_none();
    if let Some(wrong) = wrong {
        report.add(place.clone(), wrong);
    }
    is_good
}

/// Whether [`check_name`] has nothing to say.
pub(super) fn is_good_name(name: &str) -> bool {
    wrong_name(name).is_none()
}

/// Checks the name of an argument, which C and Rust restrict further.
pub(super) fn check_argument(name: &str, place: &Place, report: &mut Report) {
    let wrong = wrong_name(name).or_else(|| {
        if C_KEYWORDS.contains(&name) {
            Some(format!("`{name}` is a word of C; give it another name with `arg`"))
        } else if USED_BY_MACROS.contains(&name) {
            Some(format!("LTTng-UST's macros use `{name}` themselves; give it another name with `arg`"))
        } else {
            None
        }
    });
    if let Some(wrong) = wrong {
        report.add(place.clone(), format!("as an argument: {wrong}"));
    }
}

/// Why something cannot be called so. An empty name is refused where it is read.
fn wrong_name(name: &str) -> Option<String> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    if !name.chars().all(is_part) {
        let better = name.replace(|letter| !is_part(letter), "_");
        let suggestion = match wrong_name(&better) {
            None if name.is_ascii() => format!("; did you mean `{better}`?"),
            _ => String::new(),
        };
        return Some(format!("a name has only letters, digits and `_`{suggestion}"));
    }
    if name.starts_with(|first: char| first.is_ascii_digit()) {
        return Some("a name begins with a letter, not with a digit".to_owned());
    }
    if NOT_IN_RUST.contains(&name) {
        return Some(format!("Rust keeps `{name}` for itself; choose another name"));
    }
    if name.starts_with("lttng_") || is_kept_by_c(name) {
        return Some(format!(
            "names such as `{name}` belong to the C compiler and to LTTng; choose another beginning"
        ));
    }
    if MACROS.contains(&name) || name.starts_with("SYS_") {
        return Some(format!(
            "`{name}` is a macro in C headers, and what it stands for would be recorded instead; \
             choose another name"
        ));
    }
    if name.contains(|letter: char| letter.is_ascii_uppercase())
        && !name.contains(|letter: char| letter.is_ascii_lowercase())
    {
        return Some(format!(
            "names in capitals are macros in C headers, such as `EOF`, and what they stand for \
             would be recorded instead; write `{}`",
            name.to_ascii_lowercase()
        ));
    }
    None
}

/// Whether C keeps the name for compilers: it begins with two `_`, or with `_` and a capital.
fn is_kept_by_c(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next() == Some('_')
        && letters.next().is_some_and(|second| second == '_' || second.is_ascii_uppercase())
}
