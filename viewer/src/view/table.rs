//! Tables that fit the screen: columns are dropped, the least important first, and the last column is cut,
//! but no line ever wraps.

use std::io::{self, Write};

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::Screen;

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its heading.
    pub title: &'static str,
    /// Whether it stays when there is no room: the lowest goes first, none never goes.
    pub importance: Option<u8>,
    /// Whether it is a number, and so stands to the right.
    pub is_number: bool,
}

impl Column {
    /// A column of numbers that always stays.
    pub const fn number(title: &'static str) -> Self {
        Column { title, importance: None, is_number: true }
    }

    /// A column of text that always stays.
    pub const fn text(title: &'static str) -> Self {
        Column { title, importance: None, is_number: false }
    }

    /// A column that is dropped when there is no room, before those that are more important.
    pub const fn droppable(self, importance: u8) -> Self {
        Column { importance: Some(importance), ..self }
    }
}

/// Rows under columns. The last column takes what room is left.
#[derive(Debug)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
    /// Which column the rows are sorted by.
    pub sorted_by: Option<&'static str>,
}

/// The last column is given this much room, if it needs it, before others are dropped.
const LAST_COLUMN: usize = 36;
const GAP: usize = 2;

impl Table {
    /// An empty table.
    pub fn new(columns: &[Column]) -> Self {
        Table { columns: columns.to_vec(), rows: Vec::new(), sorted_by: None }
    }

    /// Adds a row, which has as many cells as there are columns.
    pub fn row(&mut self, cells: Vec<String>) {
        debug_assert_eq!(cells.len(), self.columns.len());
        self.rows.push(cells);
    }

    /// Writes the table so that it fits the screen.
    pub fn write(&self, screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
        let widths: Vec<usize> = (0..self.columns.len()).map(|column| self.width(column)).collect();
        let shown = self.fit(&widths, screen.width);
        let titles: Vec<String> = self.columns.iter().map(|column| column.title.to_owned()).collect();
        self.line(&titles, &shown, &widths, screen, true, out)?;
        self.rows.iter().try_for_each(|row| self.line(row, &shown, &widths, screen, false, out))
    }

    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().map(|row| row[column].width());
        cells.chain([self.columns[column].title.width()]).max().unwrap_or(0)
    }

    /// The columns that there is room for.
    fn fit(&self, widths: &[usize], screen: Option<usize>) -> Vec<usize> {
        let mut shown: Vec<usize> = (0..self.columns.len()).collect();
        let Some(screen) = screen else { return shown };
        let last = widths.len() - 1;
        let needed = |shown: &[usize]| {
            let others: usize =
                shown.iter().filter(|&&column| column != last).map(|&c| widths[c] + GAP).sum();
            others + widths[last].min(LAST_COLUMN)
        };
        while needed(&shown) > screen {
            let least = shown.iter().filter_map(|&column| Some((self.columns[column].importance?, column)));
            let Some((_, least)) = least.min() else { break };
            shown.retain(|&column| column != least);
        }
        shown
    }

    fn line(
        &self,
        cells: &[String],
        shown: &[usize],
        widths: &[usize],
        screen: &Screen,
        is_heading: bool,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let mut room = screen.width.unwrap_or(usize::MAX);
        // What is empty at the end of a line is not worth trailing spaces.
        let length = shown.iter().rposition(|&column| !cells[column].is_empty()).map_or(0, |last| last + 1);
        let shown = &shown[..length];
        for (position, &column) in shown.iter().enumerate() {
            let is_last = position + 1 == shown.len() || room <= widths[column] + GAP;
            let cell = cut(&cells[column], room);
            let padding = " ".repeat(widths[column].min(room).saturating_sub(cell.width()));
            let is_key = self.sorted_by == Some(self.columns[column].title);
            let painted = match (is_heading, is_key) {
                (true, true) => screen.paint("1;36", &cell),
                (true, false) => screen.bold(&cell),
                (false, true) => screen.paint("36", &cell),
                (false, false) => cell.clone(),
            };
            match (self.columns[column].is_number, is_last) {
                (true, _) => write!(out, "{padding}{painted}")?,
                (false, false) => write!(out, "{painted}{padding}")?,
                (false, true) => write!(out, "{painted}")?,
            }
            if is_last {
                break;
            }
            room -= widths[column] + GAP;
            write!(out, "{}", " ".repeat(GAP))?;
        }
        writeln!(out)
    }
}

/// The beginning of a text that fits, with `…` where it was cut.
pub fn cut(text: &str, room: usize) -> String {
    if text.width() <= room {
        return text.to_owned();
    }
    let mut used = 1;
    let fits = |c: &char| {
        used += c.width().unwrap_or(0);
        used <= room
    };
    let kept: String = text.chars().take_while(fits).collect();
    if room == 0 { kept } else { kept + "…" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::tz::TimeZone;

    fn shown(width: Option<usize>) -> String {
        let columns = [
            Column::number("TOTAL"),
            Column::number("RATE").droppable(1),
            Column::number("MEAN").droppable(2),
            Column::text("EVENT"),
        ];
        let mut table = Table::new(&columns);
        table.row(
            ["12ms", "3.8k", "1µs", "valkey_commands:command_call a-very-long-key"].map(Into::into).into(),
        );
        table.row(["1s", "2", "13.3µs", "short"].map(Into::into).into());
        let mut out = Vec::new();
        let screen = Screen { width, colour: false, zone: TimeZone::UTC };
        table.write(&screen, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn without_a_limit_everything_is_shown() {
        let expected = "\
TOTAL  RATE    MEAN  EVENT
 12ms  3.8k     1µs  valkey_commands:command_call a-very-long-key
   1s     2  13.3µs  short
";
        assert_eq!(shown(None), expected);
    }

    #[test]
    fn the_least_important_columns_go_first_and_no_line_is_too_long() {
        let expected = "\
TOTAL    MEAN  EVENT
 12ms     1µs  valkey_commands:command_call a-very-…
   1s  13.3µs  short
";
        assert_eq!(shown(Some(52)), expected);
        for width in 0..90 {
            let text = shown(Some(width));
            let fixed = "TOTAL  ".width();
            assert!(text.lines().all(|line| line.width() <= width.max(fixed)), "{width}:\n{text}");
        }
    }

    #[test]
    fn wide_characters_are_cut_by_their_width() {
        assert_eq!(cut("日本語", 5), "日本…");
        assert_eq!(cut("日本語", 4), "日…");
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("abc", 0), "");
    }
}
