//! Texts that take a number of columns.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The beginning of a text that fits, with `…` where it was cut.
pub fn cut(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut used = 1;
    let fits = |c: &char| {
        used += c.width().unwrap_or(0);
        used <= columns
    };
    let kept: String = text.chars().take_while(fits).collect();
    if columns == 0 { kept } else { kept + "…" }
}

/// A text that takes exactly this number of columns: cut, or followed by spaces.
pub fn fit(text: &str, columns: usize) -> String {
    let cut = cut(text, columns);
    let padding = " ".repeat(columns.saturating_sub(cut.width()));
    cut + &padding
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_are_cut_by_their_width() {
        assert_eq!(cut("日本語", 5), "日本…");
        assert_eq!(cut("日本語", 4), "日…");
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("abc", 0), "");
    }

    #[test]
    fn texts_fit_exactly() {
        assert_eq!(fit("abc", 5), "abc  ");
        assert_eq!(fit("abcdef", 4), "abc…");
        assert_eq!(fit("漢字漢字", 4).width(), 4);
        assert_eq!((fit("abc", 1), fit("abc", 0)), ("…".into(), String::new()));
    }
}
