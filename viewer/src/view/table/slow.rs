//! `slow` as a table.

use super::grid::{Column, Grid};
use super::label::{Names, details, figure, link, value};
use super::page::{Page, Style};
use crate::view::Screen;
use ltt_analysis::datum::Datum;
use ltt_analysis::finding::{EventFinding, LinkFinding};
use ltt_analysis::slow::Slow;
use ltt_analysis::text::amount::counted;
use ltt_analysis::text::escape;

/// Adds the slowest events.
pub fn add(slow: &Slow, screen: &Screen, page: &mut Page) {
    let names = Names::new(slow.events.iter().map(|event| &*event.event), screen.is_narrow());
    let columns = EventColumns::new(slow.events.iter(), slow.trace.has_several_hosts());
    let has_causes = slow.events.iter().any(|event| inner(event).next().is_some());
    let cause = has_causes.then(|| Column::text("BECAUSE OF").shrinkable());
    let mut grid = Grid::new(columns.titles().chain(cause).chain([Column::text("FIELDS")]).collect());
    grid.sorted_by = Some("DURATION".into());
    for event in &slow.events {
        let fields = details(event);
        let cause = has_causes.then(|| inner(event).map(link).collect::<Vec<_>>().join(" < "));
        grid.row(columns.cells(event, &names, screen).chain(cause).chain([fields]).collect());
    }
    if !slow.events.is_empty() {
        page.grid(grid);
    }
    if slow.timed == 0 && slow.notes.empty.is_none() {
        page.text(Style::Note, "no events with a duration");
    }
    if slow.hidden_events > 0 {
        let others = counted(slow.hidden_events, "other event");
        page.text(Style::Note, format!("{others} not slower (-n shows more)"));
    }
}

/// What within an event took most of its time, and what took most of that.
pub fn inner(event: &EventFinding) -> impl Iterator<Item = &LinkFinding> {
    let is_it = |link: &&LinkFinding| link.event == event.event && link.duration == event.duration;
    let itself = event.chain.iter().rposition(|link| is_it(&link));
    event.chain.iter().skip(itself.map_or(usize::MAX, |place| place + 1))
}

/// The columns of single events, two of which are optional.
pub(super) struct EventColumns {
    has_hosts: bool,
    has_clients: bool,
}

impl EventColumns {
    /// Clients have no column if none is known: servers before Redis 7.2 do not tell a module who they are.
    pub fn new<'a>(mut events: impl Iterator<Item = &'a EventFinding>, has_hosts: bool) -> Self {
        let is_known =
            |event: &EventFinding| event.client.as_ref().is_some_and(|client| *client != Datum::Text(vec![]));
        EventColumns { has_hosts, has_clients: events.any(is_known) }
    }

    pub fn titles(&self) -> impl Iterator<Item = Column> + use<> {
        let begin = [Column::number("DURATION"), Column::text("BEGAN").droppable(1), Column::text("ENDED")];
        let host = self.has_hosts.then_some(Column::text("HOST").shrinkable());
        let process = [Column::number("PID").droppable(2), Column::text("EVENT").shrinkable()];
        let client = self.has_clients.then_some(Column::text("CLIENT").shrinkable());
        begin.into_iter().chain(host).chain(process).chain(client)
    }

    pub fn cells(
        &self,
        event: &EventFinding,
        names: &Names,
        screen: &Screen,
    ) -> impl Iterator<Item = String> + use<> {
        let began = event.begin_ns.map_or("-".into(), |begin| screen.time_of_day(begin));
        let duration = figure(Some(event.duration), event.unit_is_guess);
        let begin = [duration, began, screen.time_of_day(event.timestamp_ns)];
        let host = self.has_hosts.then(|| event.host.as_deref().map_or("-".into(), escape::text));
        let process = [value(&event.pid), names.event(event)];
        let client = self.has_clients.then(|| value(&event.client));
        begin.into_iter().chain(host).chain(process).chain(client)
    }
}
