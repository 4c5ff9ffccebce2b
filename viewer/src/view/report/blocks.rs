//! Findings as pages of text and tables: what people see on a terminal, with all columns.

use std::io::{self, Write};

use minijinja::{Value, context};

use super::render;
use crate::view::output::{Output, unsupported};
use crate::view::table::{Block, Grid, Style, page};
use crate::view::{Screen, notes};
use ltt_analysis::Finding;

struct Html {
    screen: Screen,
}

pub fn output(screen: &Screen) -> Box<dyn Output> {
    Box::new(Html { screen: Screen { width: None, colour: false, ..screen.clone() } })
}

impl Output for Html {
    fn write(&self, finding: &Finding, out: &mut dyn Write) -> io::Result<Vec<String>> {
        let title = match finding {
            Finding::Live(_) => return Err(unsupported("live cannot write HTML: use --format json")),
            Finding::Events(_) | Finding::Timeline(_) => return Ok(notes::warnings(finding, &self.screen)),
            Finding::Compare(_) => "Two recordings, compared",
            Finding::Incidents(_) => "What held the program up",
            Finding::Report(_) | Finding::Overview(_) => "What held the program up, and what takes the time",
            Finding::Top(_) => "What takes the time",
            Finding::Slow(_) => "The slowest events",
            Finding::Outliers(_) => "What is unusual",
            Finding::Hist(_) | Finding::Heat(_) => "How durations are distributed",
            Finding::Info(_) => "What the trace contains",
        };
        let blocks = page(finding, &self.screen).0;
        let is_warning = |block: &&Block| matches!(block, Block::Text(Style::Warning, _));
        let texts = |block: &Block| match block {
            Block::Text(_, text) => text.strip_prefix("warning: ").unwrap_or(text).to_owned(),
            _ => String::new(),
        };
        let losses: Vec<String> = blocks.iter().filter(is_warning).map(texts).collect();
        let others: Vec<&Block> = blocks.iter().filter(|block| !is_warning(block)).collect();
        // What was read comes first on every page.
        let (heading, others) = others
            .split_first()
            .map_or((Vec::new(), &[][..]), |(first, others)| (vec![texts(first)], others));
        let parts: Vec<Value> = others
            .chunk_by(|one, next| matches!((one, next), (Block::Line(_), Block::Line(_))))
            .filter_map(part)
            .collect();
        let page = context! { title, heading, losses, blocks => parts, script_hash => "'none'" };
        render("blocks.html", page, out)?;
        Ok(Vec::new())
    }
}

/// A part of a page; lines that follow each other are one picture.
fn part(blocks: &[&Block]) -> Option<Value> {
    match blocks[0] {
        Block::Grid(grid) => Some(context! { table => table(grid) }),
        Block::Text(Style::Headline, text) => Some(context! { headline => text }),
        Block::Text(style, text) => Some(context! { text, is_note => *style == Style::Note }),
        Block::Line(_) => {
            let lines = blocks.iter().filter_map(|block| match block {
                Block::Line(line) => Some(line.as_str()),
                _ => None,
            });
            let lines = lines.collect::<Vec<_>>().join("\n");
            (!lines.trim().is_empty()).then(|| context! { picture => lines.trim_matches('\n') })
        }
    }
}

fn table(grid: &Grid) -> Value {
    let titles = || grid.columns.iter().map(|column| column.title.as_str());
    let columns: Vec<Value> = grid
        .columns
        .iter()
        .map(|column| context! { title => column.title, is_number => column.is_number })
        .collect();
    let rows = grid.rows.iter().map(|row| {
        let cells = row.cells.iter().zip(&grid.columns).map(|(text, column)| {
            let is_last = grid.columns.last().is_some_and(|last| std::ptr::eq(last, column));
            let class = match (&**text, column.is_number) {
                ("slower" | "tail slower" | "slower than others", _) => "slower",
                ("faster" | "tail faster" | "faster than others", _) => "faster",
                // Two figures may stand on two lines, so that the name has room.
                (text, true) if text.contains(" → ") => "number sides",
                (_, true) => "number",
                (_, false) if is_last => "name",
                (_, false) => "brief",
            };
            context! { text, class }
        });
        context! { cells => cells.collect::<Vec<_>>(), note => row.note }
    });
    let label = titles().collect::<Vec<_>>().join(", ");
    context! { label, columns, rows => rows.collect::<Vec<_>>() }
}
