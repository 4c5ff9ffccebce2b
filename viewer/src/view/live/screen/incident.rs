//! One incident: when, who, why, who waited, what ran at the same time, and what helps.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Wrap};

use super::palette::Palette;
use crate::view::Screen;
use crate::view::table::{held_by, incident_cause, link_name, meanwhile_of, process_name, short_range};
use ltt_analysis::finding::{LinkFinding, Ns};
use ltt_analysis::incidents::{Incident, IncidentKind, WaitedFinding};
use ltt_analysis::text::amount::grouped;
use ltt_analysis::text::escape;

/// Draws an incident.
pub fn draw(frame: &mut Frame<'_>, area: Rect, incident: &Incident, screen: &Screen, palette: Palette) {
    let what = match incident.kind {
        IncidentKind::Turn => "a turn of the event loop",
        IncidentKind::Interval => "a thread",
        IncidentKind::Silence => "a process without any event",
        IncidentKind::Starved => "clients that were not served",
    };
    let begin = screen.time_of_day(incident.begin_ns);
    let title = format!("INCIDENT at {begin}: {what}, held up for {}", incident.held.in_words());
    let mut lines = vec![Line::styled(title, palette.title())];
    let mut fact = |name: &str, text: String| {
        lines.push(Line::from(vec![Span::styled(format!("{name:>12}  "), palette.title()), Span::raw(text)]));
    };
    let host =
        incident.process.host.as_deref().map_or(String::new(), |host| format!(" on {}", escape::text(host)));
    fact("process", process_name(&incident.process) + &host);
    fact("cause", incident_cause(incident));
    for (depth, link) in incident.chain.iter().enumerate() {
        let name = if depth == 0 { "chain" } else { "" };
        fact(name, format!("{}{}", "  ".repeat(depth), described(link)));
    }
    let beside = incident.explained_by.iter().filter(|part| !incident.chain.contains(part));
    beside.for_each(|part| fact("besides", described(part)));
    if let Some(reason) = &incident.held_by {
        fact("held by", held_by(reason));
    }
    if incident.unaccounted() != Ns(0) {
        fact("unexplained", incident.unaccounted().in_words());
    }
    let clients = match incident.waited {
        None => "not known".into(),
        Some(WaitedFinding { clients: 0, .. }) => "nobody".into(),
        Some(waited) => {
            let longest = short_range(waited.bounds());
            format!("{} of {} clients, the longest {longest}", waited.clients, waited.of)
        }
    };
    let not_served = match incident.not_served {
        0 => String::new(),
        count => format!("; about {} requests not served", grouped(count.into())),
    };
    fact("waited", clients + &not_served);
    for (place, other) in incident.meanwhile.iter().enumerate() {
        fact(if place == 0 { "meanwhile" } else { "" }, meanwhile_of(other));
    }
    if incident.is_incomplete {
        fact("note", "events of this time are missing from the trace".into());
    }
    if let Some(advice) = &incident.advice {
        fact("advice", escape::text(advice));
    }
    frame.render_widget(Paragraph::new(lines).wrap(Wrap { trim: false }), area);
}

/// A link of the chain, with its own time and on whose behalf it happened.
fn described(link: &LinkFinding) -> String {
    let client =
        link.client.as_ref().map_or(String::new(), |client| format!(", for {}", escape::datum(client)));
    let own =
        if link.own == link.duration { String::new() } else { format!(", itself {}", link.own.short()) };
    format!("{}{own}{client}", link_name(link))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::live::lines::tests::{in_no_event, kinds};
    use ltt_analysis::incidents::words_without_event;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    #[test]
    fn the_screen_has_the_words_and_the_advice_of_every_cause() {
        for (kind, system) in kinds() {
            let advice = Some("Do this.".to_owned());
            let incident = Incident { advice, ..in_no_event(kind, system) };
            let mut terminal = Terminal::new(TestBackend::new(100, 20)).expect("it has no errors");
            let drawn = |frame: &mut Frame<'_>| {
                draw(frame, frame.area(), &incident, &Screen::default(), Palette { has_colours: false })
            };
            terminal.draw(drawn).expect("it has no errors");
            let screen = terminal.backend().to_string();
            let words = words_without_event(system, Some(kind));
            assert!(screen.contains(words) && screen.contains("Do this."), "{words}: {screen}");
        }
    }
}
