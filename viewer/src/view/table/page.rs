//! What a finding comes to for people, before it is laid out: texts, tables and pictures, one after the other.

use std::io::{self, Write};

use super::grid::Grid;
use crate::view::Screen;

/// The parts of a page, in their order.
#[derive(Debug, Default)]
pub struct Page(pub Vec<Block>);

/// A part of a page.
#[derive(Debug)]
pub enum Block {
    /// A sentence, which may be wrapped.
    Text(Style, String),
    /// A line of a picture, which may not.
    Line(String),
    /// A table.
    Grid(Grid),
}

/// What a sentence is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Like any other.
    Plain,
    /// The main result.
    Headline,
    /// What makes the result doubtful.
    Warning,
    /// What is good to know.
    Note,
}

impl Page {
    pub fn text(&mut self, style: Style, text: impl Into<String>) {
        self.0.push(Block::Text(style, text.into()));
    }

    pub fn texts(&mut self, style: Style, texts: impl IntoIterator<Item = String>) {
        texts.into_iter().for_each(|text| self.text(style, text));
    }

    pub fn line(&mut self, line: impl Into<String>) {
        self.0.push(Block::Line(line.into()));
    }

    pub fn blank(&mut self) {
        self.line("");
    }

    pub fn grid(&mut self, grid: Grid) {
        self.0.push(Block::Grid(grid));
    }

    /// The number of lines that the page takes on the screen.
    pub fn lines(&self, screen: &Screen) -> usize {
        let mut text = Vec::new();
        // Writing to memory does not fail.
        _ = self.write(screen, &mut text);
        text.iter().filter(|byte| **byte == b'\n').count()
    }

    /// Writes the page so that it fits the screen.
    pub fn write(&self, screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
        for block in &self.0 {
            match block {
                Block::Line(line) => writeln!(out, "{line}")?,
                Block::Grid(grid) => grid.write(screen, out)?,
                Block::Text(style, text) => {
                    for line in screen.wrapped(text) {
                        writeln!(out, "{}", screen.styled(*style, &line))?;
                    }
                }
            }
        }
        Ok(())
    }
}

impl Screen {
    fn styled(&self, style: Style, line: &str) -> String {
        match style {
            Style::Plain => line.to_owned(),
            Style::Headline => self.bold(line),
            Style::Warning => self.paint("33", line),
            Style::Note => self.paint("2", line),
        }
    }
}
