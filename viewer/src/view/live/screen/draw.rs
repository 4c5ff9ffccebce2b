//! The screen as a whole: a header, the groups or one of them, the heat map, the incidents, and the keys.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph};

use super::palette::Palette;
use super::state::{Pane, ScreenState};
use super::{detail, groups, heat, help};
use crate::analysis::live::LiveFinding;
use crate::text::amount::{grouped, scaled};
use crate::text::escape;
use crate::view::Screen;
use crate::view::live::lines;

/// Draws the whole screen.
pub fn draw(frame: &mut Frame<'_>, state: &ScreenState, finding: Option<&LiveFinding>, screen: &Screen) {
    let palette = Palette { has_colours: screen.colour };
    let area = frame.area();
    let Some(finding) = finding else {
        frame.render_widget(Paragraph::new("connecting …"), area);
        return;
    };
    let header = header(state, finding, palette, area.width as usize);
    let rows = [
        Constraint::Length((header.len() as u16).min(area.height)),
        Constraint::Min(0),
        Constraint::Length(u16::from(area.height > 2)),
    ];
    let [top, middle, bottom] = Layout::vertical(rows).areas(area);
    frame.render_widget(Paragraph::new(header), top);
    match &state.pane {
        Pane::Detail => body_of_detail(frame, middle, finding, screen, palette),
        Pane::Help => help::draw(frame, middle, palette),
        _ => body(frame, middle, state, finding, screen, palette),
    }
    frame.render_widget(Clear, bottom);
    frame.render_widget(Paragraph::new(footer(state, palette)), bottom);
}

/// The sessions, their lag, and what is missing.
fn header(state: &ScreenState, finding: &LiveFinding, palette: Palette, width: usize) -> Vec<Line<'static>> {
    let trace = &finding.top.trace;
    // The window and sort of the figures, which may be older than the latest request.
    let (window, sort) = (finding.window, finding.top.sorted_by);
    let mut facts = vec![
        format!("{} events", grouped(trace.events.into())),
        format!("{}/s", finding.rate_per_s.map_or("-".into(), scaled)),
        format!("window {window}"),
        format!("by {sort}"),
    ];
    if state.is_paused {
        facts.push("PAUSED".into());
    }
    if !state.filter.is_empty() {
        facts.push(format!("filter {}", escape::text(&state.filter)));
    }
    if let Some(by) = &state.selecting.by {
        facts.push(format!("grouped by {}", escape::text(&by.join(","))));
    }
    let mut lines = Vec::new();
    for session in &finding.sessions {
        let reason = session.reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
        let said = escape::text(&format!("{}{reason}", session.state));
        let style = if session.state == "attached" { palette.spark() } else { palette.warning() };
        let url = Span::styled(escape::text(&session.url), palette.title());
        lines.push(Line::from(vec![url, Span::raw(" "), Span::styled(said, style)]));
    }
    // Of many sessions, the first few are enough.
    lines.truncate(3);
    if let Some(first) = lines.first_mut() {
        first.push_span(format!("  {}", lines::lag(finding)));
    }
    // Facts are wrapped onto several lines.
    let mut line = String::new();
    for fact in facts {
        if !line.is_empty() && line.chars().count() + 2 + fact.chars().count() > width {
            lines.push(Line::raw(std::mem::take(&mut line)));
        }
        if !line.is_empty() {
            line.push_str("  ");
        }
        line.push_str(&fact);
    }
    lines.push(Line::raw(line));
    lines.extend(lines::losses(finding).map(|losses| Line::styled(losses, palette.warning())));
    lines
}

/// The groups and, with enough room, the heat map and the incidents.
fn body(
    frame: &mut Frame<'_>,
    area: Rect,
    state: &ScreenState,
    finding: &LiveFinding,
    screen: &Screen,
    palette: Palette,
) {
    let room = area.height;
    let heat_rows = if room >= 18 { (room / 4).min(12) } else { 0 };
    let incident_rows = if room >= 8 { (room / 4).max(3) } else { 0 };
    let rows = [Constraint::Min(1), Constraint::Length(heat_rows), Constraint::Length(incident_rows)];
    let [groups, heat, incidents] = Layout::vertical(rows).areas(area);
    groups::draw(frame, groups, state, finding, palette);
    heat::draw(frame, heat, finding, palette);
    let mut said = vec![Line::styled("INCIDENTS, the newest first", palette.title())];
    if finding.incidents.is_empty() {
        said.push(Line::styled("none so far", palette.faint()));
    }
    let listed = finding.incidents.iter().map(|incident| Line::raw(lines::incident(incident, screen)));
    said.extend(listed.take(incident_rows as usize));
    frame.render_widget(Paragraph::new(said), incidents);
}

/// One group, and its heat map.
fn body_of_detail(
    frame: &mut Frame<'_>,
    area: Rect,
    finding: &LiveFinding,
    screen: &Screen,
    palette: Palette,
) {
    let heat_rows = if area.height >= 18 { (area.height / 4).min(12) } else { 0 };
    let [upper, lower] = Layout::vertical([Constraint::Min(1), Constraint::Length(heat_rows)]).areas(area);
    detail::draw(frame, upper, finding, screen, palette);
    heat::draw(frame, lower, finding, palette);
}

/// The input, an error in it, or the keys.
fn footer(state: &ScreenState, palette: Palette) -> Line<'static> {
    if let Some(complaint) = &state.complaint {
        return Line::styled(escape::text(complaint), palette.warning());
    }
    match &state.pane {
        Pane::Filter(text) => Line::raw(format!("/{}▏", escape::text(text))),
        Pane::By(text) => Line::raw(format!("group by: {}▏", escape::text(text))),
        Pane::Help => Line::styled("any key: back", palette.faint()),
        Pane::Detail => Line::styled("Esc back  w window  p pause  ? help", palette.faint()),
        Pane::Groups => {
            let keys = "q quit  ? help  w window  s sort  / filter  g group by  Enter drill  p pause";
            Line::styled(keys, palette.faint())
        }
    }
}
