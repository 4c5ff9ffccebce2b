//! The keys.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::palette::Palette;

/// The keys, and what they do.
const KEYS: [(&str, &str); 11] = [
    ("w 1 2 3 4", "look back 10 s, 1 min, 10 min or to the beginning"),
    ("s", "rank by total, count, p50, p99 or max"),
    ("/", "filter: conditions as in --where, e.g. name=get duration>1ms"),
    ("g", "group by fields, e.g. addr or name,addr; empty for the catalog's"),
    ("↑ ↓ j k", "choose a group"),
    ("Enter", "show the group: its histogram and its slowest events"),
    ("Esc", "back"),
    ("p Space", "pause the display; events are still processed"),
    ("?", "this help"),
    ("q Ctrl-C", "quit"),
    ("", "A changed filter or grouping applies from then on."),
];

/// Draws the keys.
pub fn draw(frame: &mut Frame<'_>, area: Rect, palette: Palette) {
    let line = |(key, what): &(&str, &str)| {
        Line::from(vec![Span::styled(format!("{key:>10}  "), palette.title()), Span::raw((*what).to_owned())])
    };
    let lines: Vec<Line<'_>> = KEYS.iter().map(line).collect();
    frame.render_widget(Paragraph::new(lines), area);
}
