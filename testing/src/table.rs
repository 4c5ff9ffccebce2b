//! Tables of figures, as the benchmarks print them.

use std::fmt;

/// A table with a title; its columns are as wide as they need to be.
#[derive(Debug)]
pub struct Table {
    title: String,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    pub fn new(title: &str, columns: &[&str]) -> Table {
        let mut table = Table { title: title.to_owned(), rows: Vec::new() };
        table.row(columns);
        table
    }

    /// Adds a row, with a cell for each column.
    pub fn row<S: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(|cell| cell.as_ref().to_owned()).collect());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or_default();
        let widths: Vec<usize> = (0..columns)
            .map(|column| {
                self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max()
            })
            .map(Option::unwrap_or_default)
            .collect();
        writeln!(f, "\n{}\n", self.title)?;
        for (index, row) in self.rows.iter().enumerate() {
            // Words begin where their column begins, and figures end where it ends.
            let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| match column {
                0 => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            });
            writeln!(f, "| {} |", cells.collect::<Vec<_>>().join(" | "))?;
            if index == 0 {
                let lines: Vec<_> = widths.iter().map(|&width| "-".repeat(width)).collect();
                writeln!(f, "|-{}-|", lines.join("-|-"))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new("Title", &["what", "ns"]);
        table.row(["a long name", "1.5"]);
        table.row(["b", "12.5"]);
        let expected = "\nTitle\n\n\
                        | what        |   ns |\n\
                        |-------------|------|\n\
                        | a long name |  1.5 |\n\
                        | b           | 12.5 |\n";
        assert_eq!(table.to_string(), expected);
    }
}
