//! Documentation as Rust comments.

/// A doc comment, ending in a line break; `otherwise` stands in for a missing text.
pub(super) fn comment(text: &str, otherwise: &str) -> String {
    let text = text.trim();
    let text = if text.is_empty() { otherwise } else { text };
    text.lines().map(|line| format!("/// {}", line.trim()).trim_end().to_owned() + "\n").collect()
}

/// Text in a cell of a Markdown table.
pub(super) fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

/// A string literal.
pub(super) fn literal(text: &str) -> String {
    format!("{text:?}")
}
