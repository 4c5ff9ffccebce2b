//! Lists between brackets, broken into lines where they are long.

/// The widest line; the generated code is indented a bit further.
const WIDTH: usize = 96;

/// `start(a, b)end` on one line, or with each item on its own, `step` further in than `indent`.
pub(crate) fn list(
    indent: &str,
    step: &str,
    start: &str,
    items: &[String],
    end: &str,
    comma: &str,
) -> String {
    let line = format!("{indent}{start}{}{end}", items.join(", "));
    if line.len() <= WIDTH || items.is_empty() {
        return line;
    }
    let items = items.join(&format!(",\n{indent}{step}"));
    format!("{indent}{start}\n{indent}{step}{items}{comma}\n{indent}{end}")
}
