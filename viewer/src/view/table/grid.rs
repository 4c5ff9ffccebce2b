//! Tables that fit the screen: columns are dropped, the least important first, then some are made narrower, and the
//! last column is cut, but no line ever wraps.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use crate::view::Screen;
use crate::view::width::cut;

/// A column of a table.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its heading.
    pub title: String,
    /// Without enough room, columns with the lowest importance are dropped first; without an importance it always stays.
    pub importance: Option<u8>,
    /// Whether it is a number, and so right-aligned.
    pub is_number: bool,
    /// Whether it may be made narrower without enough room.
    pub is_shrinkable: bool,
    /// Whether its cells move to the notes of their rows where it is dropped.
    pub is_noted: bool,
}

impl Column {
    /// A column of numbers that always stays.
    pub fn number(title: impl Into<String>) -> Self {
        Column {
            title: title.into(),
            importance: None,
            is_number: true,
            is_shrinkable: false,
            is_noted: false,
        }
    }

    /// A column of text that always stays.
    pub fn text(title: impl Into<String>) -> Self {
        Column { is_number: false, ..Column::number(title) }
    }

    /// Lets the column be dropped without enough room, before more important ones.
    pub fn droppable(self, importance: u8) -> Self {
        Column { importance: Some(importance), ..self }
    }

    /// Lets the column be dropped without enough room; its cells then move to the notes of their rows.
    pub fn notable(self, importance: u8) -> Self {
        Column { importance: Some(importance), is_noted: true, ..self }
    }

    /// Lets the column be made narrower without enough room.
    pub fn shrinkable(self) -> Self {
        Column { is_shrinkable: true, ..self }
    }
}

/// Rows under columns. The last column takes the remaining room.
#[derive(Debug)]
pub struct Grid {
    pub columns: Vec<Column>,
    pub rows: Vec<Row>,
    /// Which column the rows are sorted by.
    pub sorted_by: Option<String>,
}

/// A row of a table.
#[derive(Debug)]
pub struct Row {
    /// A text for each column.
    pub cells: Vec<String>,
    /// A text on the lines after it.
    pub note: Option<String>,
}

/// The last column is given this much room, if it needs it, before others are dropped.
const LAST_COLUMN: usize = 36;
/// The least width of a shrinkable column.
const SHRUNK: usize = 12;
/// The least width of the last column while others are made narrower.
const LAST_COLUMN_LEAST: usize = 8;
const GAP: usize = 2;
/// How far a note is indented.
const INDENT: usize = 4;

impl Grid {
    /// An empty table.
    pub fn new(columns: Vec<Column>) -> Self {
        Grid { columns, rows: Vec::new(), sorted_by: None }
    }

    /// Adds a row, which has a cell for each column.
    pub fn row(&mut self, cells: Vec<String>) {
        debug_assert_eq!(cells.len(), self.columns.len());
        self.rows.push(Row { cells, note: None });
    }

    /// Adds a note to the last row.
    pub fn note(&mut self, note: String) {
        if let Some(row) = self.rows.last_mut() {
            row.note = Some(note);
        }
    }

    /// Writes the table so that it fits the screen.
    pub fn write(&self, screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
        let mut widths: Vec<usize> = (0..self.columns.len()).map(|column| self.width(column)).collect();
        let shown = self.fit(&mut widths, screen.width);
        let titles: Vec<String> = self.columns.iter().map(|column| column.title.clone()).collect();
        self.line(&titles, &shown, &widths, screen, true, out)?;
        for Row { cells, note } in &self.rows {
            self.line(cells, &shown, &widths, screen, false, out)?;
            let notes: Vec<String> = self.dropped(cells, &shown).chain(note.clone()).collect();
            if !notes.is_empty() {
                for line in screen.indented(&notes.join("; "), INDENT) {
                    writeln!(out, "{line}")?;
                }
            }
        }
        Ok(())
    }

    /// The cells of a row that are dropped and belong in its note: `client 10.0.0.7:4242`.
    fn dropped(&self, cells: &[String], shown: &[usize]) -> impl Iterator<Item = String> {
        let columns = self.columns.iter().zip(cells).enumerate();
        let is_dropped = |(place, (column, cell)): &(usize, (&Column, &String))| {
            column.is_noted && !shown.contains(place) && !["", "-"].contains(&cell.as_str())
        };
        columns
            .filter(is_dropped)
            .map(|(_, (column, cell))| format!("{} {cell}", column.title.to_lowercase()))
    }

    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().map(|row| row.cells[column].width());
        cells.chain([self.columns[column].title.width()]).max().unwrap_or(0)
    }

    /// The columns that fit, some of them narrower.
    fn fit(&self, widths: &mut [usize], screen: Option<usize>) -> Vec<usize> {
        let mut shown: Vec<usize> = (0..self.columns.len()).collect();
        let Some(screen) = screen else { return shown };
        let last = widths.len() - 1;
        let needed = |shown: &[usize], widths: &[usize], least: usize| {
            let others = shown.iter().filter(|&&column| column != last);
            others.map(|&column| widths[column] + GAP).sum::<usize>() + widths[last].min(least)
        };
        while needed(&shown, widths, LAST_COLUMN) > screen {
            let least = shown.iter().filter_map(|&column| Some((self.columns[column].importance?, column)));
            let Some((_, least)) = least.min() else { break };
            shown.retain(|&column| column != least);
        }
        while needed(&shown, widths, LAST_COLUMN_LEAST) > screen {
            let shrinkable =
                shown.iter().filter(|&&column| self.columns[column].is_shrinkable && column != last);
            let widest = shrinkable.max_by_key(|&&column| widths[column]);
            match widest {
                Some(&column) if widths[column] > SHRUNK => widths[column] -= 1,
                _ => break,
            }
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
        // Empty cells at the end of a line would only be trailing spaces.
        let length = shown.iter().rposition(|&column| !cells[column].is_empty()).map_or(0, |last| last + 1);
        let shown = &shown[..length];
        for (position, &column) in shown.iter().enumerate() {
            let is_last = position + 1 == shown.len() || room <= widths[column] + GAP;
            let width = if column + 1 == widths.len() { room } else { widths[column].min(room) };
            let cell = cut(&cells[column], width);
            let padding = " ".repeat(widths[column].min(room).saturating_sub(cell.width()));
            let is_key = self.sorted_by.as_ref() == Some(&self.columns[column].title);
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
        let mut table = Grid::new(columns.into());
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
}
