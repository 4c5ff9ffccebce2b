//! Names of the catalog as Rust identifiers.

/// Words that Rust keeps for itself and a catalog may use.
const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else",
    "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro",
    "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "static", "struct", "trait",
    "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// The name, made a raw identifier where Rust has the word for itself.
///
/// Four words cannot be raw identifiers; they get an underscore.
pub(super) fn identifier(name: &str) -> String {
    match name {
        "crate" | "self" | "super" | "Self" => format!("{name}_"),
        _ if KEYWORDS.contains(&name) => format!("r#{name}"),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::identifier;

    #[test]
    fn keywords_become_raw_identifiers() {
        assert_eq!(identifier("fork"), "fork");
        assert_eq!(identifier("type"), "r#type");
        assert_eq!(identifier("self"), "self_");
    }
}
