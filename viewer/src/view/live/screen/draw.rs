//! The screen as a whole: a header, the groups or one of them, the heat map, the incidents, and the keys.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph};

use super::palette::Palette;
use super::state::{Focus, OverviewAreas, Pane, ScreenState, first_row};
use super::{detail, groups, heat, incident, keys};
use crate::view::Screen;
use crate::view::live::lines;
use crate::view::width::fit;
use ltt_analysis::live::LiveFinding;
use ltt_analysis::text::amount::{grouped, scaled};
use ltt_analysis::text::escape;

/// Draws the whole screen, and returns where the parts of the overview are.
pub fn draw(
    frame: &mut Frame<'_>,
    state: &ScreenState,
    finding: Option<&LiveFinding>,
    screen: &Screen,
) -> OverviewAreas {
    let palette = Palette { has_colours: screen.colour };
    let area = frame.area();
    let Some(finding) = finding else {
        frame.render_widget(Paragraph::new("connecting …"), area);
        return OverviewAreas::default();
    };
    let header = header(state, finding, palette, area.width as usize);
    let rows = [
        Constraint::Length((header.len() as u16).min(area.height)),
        Constraint::Min(0),
        Constraint::Length(u16::from(area.height > 2)),
    ];
    let [top, middle, bottom] = Layout::vertical(rows).areas(area);
    frame.render_widget(Paragraph::new(header), top);
    let mut areas = OverviewAreas::default();
    match &state.pane {
        Pane::Detail => body_of_detail(frame, middle, finding, screen, palette),
        Pane::Heat => heat::draw(frame, middle, finding, true, palette),
        Pane::Incident(chosen) => incident::draw(frame, middle, chosen, screen, palette),
        Pane::Help => keys::draw(frame, middle, palette),
        _ => areas = body(frame, middle, state, finding, screen, palette),
    }
    frame.render_widget(Clear, bottom);
    frame.render_widget(Paragraph::new(footer(state, palette)), bottom);
    areas
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
    if state.is_frozen {
        facts.push("FROZEN".into());
    }
    if !state.question.narrow.is_empty() {
        facts.push(format!("groups with {}", escape::text(&state.question.narrow)));
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
    lines.extend(finding.misfit.iter().map(|misfit| Line::styled(escape::text(misfit), palette.warning())));
    if finding.has_process_buffers {
        lines.push(Line::styled(fit(lines::PROCESS_BUFFERS, width), palette.warning()));
    }
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
) -> OverviewAreas {
    let room = area.height;
    let heat_rows = if room >= 18 { (room / 4).min(12) } else { 0 };
    let incident_rows = if room >= 8 { (room / 4).max(3) } else { 0 };
    let rows = [Constraint::Min(1), Constraint::Length(heat_rows), Constraint::Length(incident_rows)];
    let [groups, heat, incidents] = Layout::vertical(rows).areas(area);
    groups::draw(frame, groups, state, finding, palette);
    heat::draw(frame, heat, finding, state.focus == Focus::Heat, palette);
    incidents_in(frame, incidents, state, finding, screen, palette);
    OverviewAreas { groups, heat, incidents }
}

/// The incidents that fit, including the chosen one.
fn incidents_in(
    frame: &mut Frame<'_>,
    area: Rect,
    state: &ScreenState,
    finding: &LiveFinding,
    screen: &Screen,
    palette: Palette,
) {
    let is_here = state.focus == Focus::Incidents;
    let mark = if is_here { "▶" } else { "" };
    let mut said = vec![Line::styled(format!("{mark}INCIDENTS, the newest first"), palette.title())];
    if finding.incidents.is_empty() {
        said.push(Line::styled("none so far", palette.faint()));
    }
    let room = (area.height as usize).saturating_sub(1);
    let first = first_row(state.incident, area.height);
    for (place, incident) in finding.incidents.iter().enumerate().skip(first).take(room) {
        let mut line = Line::raw(fit(&lines::incident(incident, screen), area.width as usize));
        if is_here && place == state.incident {
            line = line.style(palette.chosen(true));
        }
        said.push(line);
    }
    frame.render_widget(Paragraph::new(said), area);
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
    heat::draw(frame, lower, finding, false, palette);
}

/// The input, an error in it, or the keys.
fn footer(state: &ScreenState, palette: Palette) -> Line<'static> {
    if let Some(message) = &state.message {
        return Line::styled(escape::text(message), palette.warning());
    }
    let keys = match (&state.pane, state.focus) {
        (Pane::Filter(text), _) => return Line::raw(format!("filter: {}▏", escape::text(text))),
        (Pane::By(text), _) => return Line::raw(format!("group by: {}▏", escape::text(text))),
        (Pane::Narrow, _) => return Line::raw(format!("/{}▏", escape::text(&state.question.narrow))),
        (Pane::Help, _) => "any key: back",
        (Pane::Detail, _) => "Esc back  w window  Space freeze  e export  ? help",
        (Pane::Heat | Pane::Incident(_), _) => "Esc back  w window  Space freeze  ? help",
        (Pane::Overview, Focus::Groups) => {
            "q quit  ? help  / find  Enter open  Tab next  s sort  w window  Space freeze  f filter  g group by"
        }
        (Pane::Overview, Focus::Heat) => "q quit  ? help  Enter enlarge  Tab next  w window  Space freeze",
        (Pane::Overview, Focus::Incidents) => {
            "q quit  ? help  ↑↓ choose  Enter open  Tab next  Space freeze  e export"
        }
    };
    Line::styled(keys, palette.faint())
}
