//! The picture of the live screen in the README: what a terminal shows of a recorded scene, as SVG. It is a golden
//! file, so that it never shows what the program does not.

use lttng_testing::{assert_golden, need, workspace};

use super::replay;
use super::screens::{COMPLETE, watch};
use super::terminal::Terminal;

/// The size of a character.
const CELL: (f64, f64) = (8.0, 17.0);

/// The colours of a terminal, from black to white, and then brighter.
const COLOURS: [&str; 16] = [
    "#1e1e1e", "#cd3131", "#0dbc79", "#e5e510", "#2472c8", "#bc3fbc", "#11a8cd", "#d4d4d4", "#767676",
    "#f14c4c", "#23d18b", "#f5f543", "#3b8eea", "#d670d6", "#29b8db", "#ffffff",
];

/// How text is shown.
#[derive(Clone, Copy, Default, PartialEq)]
struct Style {
    colour: Option<usize>,
    is_bold: bool,
    is_reversed: bool,
}

impl Style {
    /// Takes in the codes of an escape sequence.
    fn apply(&mut self, codes: &str) {
        let codes: Vec<usize> = codes.split(';').map(|code| code.parse().unwrap_or(0)).collect();
        match codes[..] {
            [38, 5, colour] => self.colour = Some(colour),
            _ => codes.iter().for_each(|&code| match code {
                0 => *self = Style::default(),
                1 => self.is_bold = true,
                7 => self.is_reversed = true,
                27 => self.is_reversed = false,
                30..=37 => self.colour = Some(code - 30),
                39 => self.colour = None,
                90..=97 => self.colour = Some(code - 82),
                _ => {}
            }),
        }
    }
}

/// Texts of one style each, with the columns where they begin.
fn spans(line: &str, style: &mut Style) -> Vec<(usize, String, Style)> {
    let mut spans: Vec<(usize, String, Style)> = Vec::new();
    let (mut rest, mut column) = (line, 0);
    while let Some(character) = rest.chars().next() {
        if let Some(sequence) = rest.strip_prefix("\x1b[")
            && let Some((codes, after)) = sequence.split_once('m')
        {
            style.apply(codes);
            rest = after;
            continue;
        }
        match spans.last_mut() {
            Some((_, text, known)) if known == style => text.push(character),
            _ => spans.push((column, character.to_string(), *style)),
        }
        column += 1;
        rest = &rest[character.len_utf8()..];
    }
    spans
}

fn svg(screen: &str, columns: usize) -> String {
    let lines: Vec<&str> = screen.lines().collect();
    let (width, height) = (columns as f64 * CELL.0 + 16.0, lines.len() as f64 * CELL.1 + 16.0);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"monospace\" \
         font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" rx=\"6\" fill=\"{}\"/>\n",
        COLOURS[0]
    );
    let mut style = Style::default();
    for (row, line) in lines.iter().enumerate() {
        for (column, text, style) in spans(line, &mut style) {
            if text.trim().is_empty() && !style.is_reversed {
                continue;
            }
            let (x, y) = (8.0 + column as f64 * CELL.0, 8.0 + row as f64 * CELL.1);
            let length = text.chars().count() as f64 * CELL.0;
            let mut colour = COLOURS[style.colour.unwrap_or(7) % 16];
            if style.is_reversed {
                svg += &format!(
                    "<rect x=\"{x}\" y=\"{y}\" width=\"{length}\" height=\"{}\" fill=\"{colour}\"/>\n",
                    CELL.1
                );
                colour = COLOURS[0];
            }
            let weight = if style.is_bold { " font-weight=\"bold\"" } else { "" };
            let text = text.replace('&', "&amp;").replace('<', "&lt;");
            svg += &format!(
                "<text x=\"{x}\" y=\"{}\" textLength=\"{length}\" xml:space=\"preserve\" fill=\"{colour}\"{weight}>{text}</text>\n",
                y + 13.0
            );
        }
    }
    svg + "</svg>\n"
}

#[test]
#[ignore = "make check: tmux"]
fn picture_in_the_readme_is_what_a_terminal_shows() {
    if !need("tmux") {
        return;
    }
    let terminal = Terminal::start(100, 36, &watch(&replay::serve(), ""));
    terminal.until(COMPLETE);
    terminal.until("INCIDENTS");
    let screen = terminal.styled_screen();
    // Where the test serves the scene, and how long ago that happened, changes.
    let (first, others) = screen.split_once('\n').expect("several lines");
    let first = match (first.find("net://"), first.find("/host")) {
        (Some(begin), Some(end)) => format!("{}net://localhost{}", &first[..begin], &first[end..]),
        _ => first.to_owned(),
    };
    let first = first.split("  lag").next().expect("a beginning").to_owned();
    let picture = svg(&format!("{first}\n{others}"), 100);
    let path = workspace().join("docs/live.svg");
    assert_golden(path, &picture);
}
