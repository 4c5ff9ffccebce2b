//! Texts in C: comments, literals, lists.

use crate::lists;

/// A comment of one or several lines, ending in a line break; empty for an empty text.
pub(crate) fn comment(text: &str) -> String {
    // The text must neither end the comment nor seem to begin another, of which compilers warn.
    let text = text.trim().replace("*/", "* /").replace("/*", "/ *");
    match text.lines().count() {
        0 => String::new(),
        1 => format!("/* {text} */\n"),
        _ => {
            let lines: String =
                text.lines().map(|line| format!(" * {}", line.trim()).trim_end().to_owned() + "\n").collect();
            format!("/*\n{lines} */\n")
        }
    }
}

/// A C string literal.
pub(crate) fn string(text: &str) -> String {
    let escaped: String = text
        .bytes()
        .map(|byte| match byte {
            b'"' | b'\\' => format!("\\{}", char::from(byte)),
            b' '..=b'~' => char::from(byte).to_string(),
            _ => format!("\\{byte:03o}"),
        })
        .collect();
    format!("\"{escaped}\"")
}

/// `start(a, b)end`, in C's style.
pub(crate) fn list(indent: &str, start: &str, items: &[String], end: &str) -> String {
    lists::list(indent, "\t", start, items, end, "")
}

#[cfg(test)]
mod tests {
    use super::comment;

    #[test]
    fn documentation_cannot_end_its_comment() {
        assert_eq!(comment(""), "");
        assert_eq!(comment("one */ line\n"), "/* one * / line */\n");
        assert_eq!(comment("/*/ keys/* */"), "/* / * / keys/ * * / */\n");
        assert_eq!(comment("a\n\nb"), "/*\n * a\n *\n * b\n */\n");
    }
}
