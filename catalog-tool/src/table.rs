//! Columns of text.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The narrowest that the last column is cut to.
const NARROWEST: usize = 20;

/// Writes rows below headers; the last column is cut so that lines are at most `width` wide.
///
/// ```
/// let rows = [vec!["a".to_owned(), "long text".to_owned()]];
/// assert_eq!(lttng_catalog_cli::table::table(&["X", "SAYS"], &rows, None), "X  SAYS\na  long text\n");
/// ```
pub fn table(headers: &[&str], rows: &[Vec<String>], width: Option<usize>) -> String {
    let headers: Vec<String> = headers.iter().map(|&header| header.to_owned()).collect();
    let rows: Vec<Vec<String>> = [headers]
        .into_iter()
        .chain(rows.iter().map(|row| row.iter().map(|cell| shown(cell)).collect()))
        .collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let widest = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.width()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(widest).collect();
    let before: usize = widths.iter().take(columns.saturating_sub(1)).map(|width| width + 2).sum();
    let last = width.map(|width| width.saturating_sub(before).max(NARROWEST));
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            if column + 1 == columns {
                line.push_str(&cut(cell, last));
            } else {
                line.push_str(cell);
                line.extend(std::iter::repeat_n(' ', widths[column] + 2 - cell.width()));
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// A text from a file, without what a terminal would obey.
pub fn shown(text: &str) -> String {
    text.chars()
        .map(|letter| if letter.is_control() { char::REPLACEMENT_CHARACTER } else { letter })
        .collect()
}

fn cut(text: &str, width: Option<usize>) -> String {
    let Some(width) = width.filter(|width| text.width() > *width) else { return text.to_owned() };
    let mut used = 0;
    let fits = |letter: &char| {
        used += letter.width().unwrap_or(0);
        used < width
    };
    text.chars().take_while(fits).chain(['…']).collect()
}
