//! The keys of the live screen, and what each does.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::palette::Palette;

/// The keys, and what they do.
const KEYS: [(&str, &str); 15] = [
    ("w 1 2 3 4", "look back 10 s, 1 min, 10 min or to the beginning"),
    ("s", "rank by total, count, p50, p99 or max"),
    ("/", "only groups whose name contains a text; figures are kept"),
    ("f", "filter: conditions as in --where, e.g. name=get duration>1ms"),
    ("g", "group by fields, e.g. addr or name,addr; empty for the catalog's"),
    ("Tab", "go to groups, heat map or incidents"),
    ("↑ ↓ j k", "choose a row; also page up and down, Home and End"),
    ("Enter", "show the group, the heat map or the incident in full; also a click on what is chosen"),
    ("Esc", "back"),
    ("Space p", "freeze: look at what is known now; events are still processed"),
    ("e", "write what is shown as JSON into the current folder"),
    ("?", "this help"),
    ("Ctrl-Z", "suspend"),
    ("q Ctrl-C", "quit"),
    ("", "A changed filter (f) or grouping (g) applies from then on."),
];

/// Draws the keys.
pub fn draw(frame: &mut Frame<'_>, area: Rect, palette: Palette) {
    let line = |(key, what): &(&str, &str)| {
        Line::from(vec![Span::styled(format!("{key:>10}  "), palette.title()), Span::raw((*what).to_owned())])
    };
    let lines: Vec<Line<'_>> = KEYS.iter().map(line).collect();
    frame.render_widget(Paragraph::new(lines), area);
}
