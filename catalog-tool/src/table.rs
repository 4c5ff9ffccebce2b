//! Columns of text.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The narrowest width that a column is cut to.
const NARROWEST: usize = 20;

/// Writes rows below headers; the last column and the widest are cut so that lines are at most `width` wide.
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
    let mut widths: Vec<usize> = (0..columns).map(widest).collect();
    if let Some(width) = width {
        narrow(&mut widths, width);
    }
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            let cell = cut(cell, *width);
            line.push_str(&cell);
            line.extend(std::iter::repeat_n(' ', width.saturating_sub(cell.width()) + 2));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Takes what is too wide from the last column, and then from the widest.
fn narrow(widths: &mut [usize], width: usize) {
    let gaps = 2 * widths.len().saturating_sub(1);
    let widest = (0..widths.len().saturating_sub(1)).max_by_key(|column| widths[*column]);
    for column in [widths.len().checked_sub(1), widest].into_iter().flatten() {
        let excess = (widths.iter().sum::<usize>() + gaps).saturating_sub(width);
        let least = widths[column].min(NARROWEST);
        widths[column] = widths[column].saturating_sub(excess).max(least);
    }
}

/// A text from a file, without what a terminal would obey.
pub fn shown(text: &str) -> String {
    text.chars()
        .map(|letter| if letter.is_control() { char::REPLACEMENT_CHARACTER } else { letter })
        .collect()
}

fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut used = 0;
    let fits = |letter: &char| {
        used += letter.width().unwrap_or(0);
        used < width
    };
    text.chars().take_while(fits).chain(['…']).collect()
}
