//! Findings as Markdown, for tickets and reports: the page that people see on a terminal, with its tables in full.

use std::io::{self, Write};

use super::output::{Output, unsupported};
use super::table::{Block, Grid, Style, page};
use super::{Screen, notes};
use ltt_analysis::Finding;

struct Markdown {
    screen: Screen,
}

pub(super) fn output(screen: &Screen) -> Box<dyn Output> {
    // Tables are not cut, and colours mean nothing.
    Box::new(Markdown { screen: Screen { width: None, colour: false, ..screen.clone() } })
}

impl Output for Markdown {
    fn write(&self, finding: &Finding, out: &mut dyn Write) -> io::Result<Vec<String>> {
        match finding {
            Finding::Live(_) => return Err(unsupported("live cannot write Markdown: use --format json")),
            Finding::Events(_) | Finding::Timeline(_) => return Ok(notes::warnings(finding, &self.screen)),
            _ => {}
        }
        let blocks = page(finding, &self.screen).0;
        // Lines that follow each other are one picture, and notes one list.
        for blocks in blocks.chunk_by(|one, next| kind(one) == kind(next)) {
            match &blocks[0] {
                Block::Line(_) => picture(blocks, out)?,
                _ => blocks.iter().try_for_each(|block| match block {
                    Block::Text(Style::Plain, text) => writeln!(out, "{}\n", escaped(text.trim())),
                    Block::Text(Style::Headline, text) => writeln!(out, "**{}**\n", escaped(text)),
                    Block::Text(Style::Warning | Style::Note, text) => writeln!(out, "- {}", escaped(text)),
                    Block::Grid(grid) => table(grid, out),
                    Block::Line(_) => Ok(()),
                })?,
            }
            if matches!(blocks[0], Block::Text(Style::Warning | Style::Note, _)) {
                writeln!(out)?;
            }
        }
        Ok(Vec::new())
    }
}

fn kind(block: &Block) -> u8 {
    match block {
        Block::Text(Style::Plain | Style::Headline, _) | Block::Grid(_) => 0,
        Block::Text(Style::Warning | Style::Note, _) => 1,
        Block::Line(_) => 2,
    }
}

/// Writes lines as they are, in a block of code.
fn picture(blocks: &[Block], out: &mut dyn Write) -> io::Result<()> {
    let lines = blocks.iter().filter_map(|block| match block {
        Block::Line(line) => Some(line.as_str()),
        _ => None,
    });
    let lines = lines.collect::<Vec<_>>().join("\n");
    if lines.trim().is_empty() {
        Ok(())
    } else {
        writeln!(out, "```text\n{}\n```\n", lines.trim_matches('\n'))
    }
}

/// Writes a table, and after it the notes on its rows.
fn table(grid: &Grid, out: &mut dyn Write) -> io::Result<()> {
    let row =
        |cells: &mut dyn Iterator<Item = String>| format!("| {} |", cells.collect::<Vec<_>>().join(" | "));
    writeln!(out, "{}", row(&mut grid.columns.iter().map(|column| escaped(&column.title))))?;
    let rule = |is_number| if is_number { "---:".to_owned() } else { "---".to_owned() };
    writeln!(out, "{}", row(&mut grid.columns.iter().map(|column| rule(column.is_number))))?;
    for line in &grid.rows {
        writeln!(out, "{}", row(&mut line.cells.iter().map(|cell| escaped(cell))))?;
    }
    writeln!(out)?;
    let noted = || grid.rows.iter().filter_map(|row| Some((row.cells.last()?, row.note.as_ref()?)));
    noted().try_for_each(|(cell, note)| writeln!(out, "- {}: {}", escaped(cell), escaped(note)))?;
    if noted().next().is_some() { writeln!(out) } else { Ok(()) }
}

/// A text in which nothing is markup.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if r"\`*_[]<>|#~&".contains(character) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::table::Column;

    #[test]
    fn no_text_of_a_trace_is_markup() {
        let mut grid = Grid::new(["A", "B"].map(Column::text).into());
        grid.row(vec!["<script>|".into(), "[x](y) `z` *".into()]);
        grid.note("a_b".into());
        let mut out = Vec::new();
        table(&grid, &mut out).unwrap();
        let (cell, link) = (r"\<script\>\|", r"\[x\](y) \`z\` \*");
        let expected = format!("| A | B |\n| --- | --- |\n| {cell} | {link} |\n\n- {link}: a\\_b\n\n");
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
