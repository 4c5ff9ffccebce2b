//! `report` on one screen: what held the program up longest, the main causes and what helps, the heaviest groups.

use ltt_analysis::groups::Top;
use ltt_analysis::incidents::Incidents;
use ltt_analysis::text::amount::grouped;
use ltt_analysis::{Finding, ReportFinding};

use super::page::{Page, Style};
use super::{incidents, top};
use crate::view::{Screen, notes};

/// The lines of a small terminal, less those of the command and the prompt.
const LINES: usize = 40;

/// The number of rows of each part.
#[derive(Clone, Copy)]
struct Rows {
    incidents: usize,
    causes: usize,
    groups: usize,
    /// Whether there is room for what is good to know.
    has_notes: bool,
}

impl Rows {
    const MOST: Rows = Rows { incidents: 10, causes: 5, groups: 10, has_notes: true };

    /// The next smaller choice: a row less where there are most.
    fn fewer(self) -> Option<Rows> {
        let Rows { incidents, causes, groups, has_notes } = self;
        match self {
            // A cause takes four lines, with what helps.
            _ if incidents > 5 || groups > 5 => Some(match incidents >= groups {
                true => Rows { incidents: incidents - 1, ..self },
                false => Rows { groups: groups - 1, ..self },
            }),
            _ if causes > 3 => Some(Rows { causes: causes - 1, ..self }),
            _ if has_notes => Some(Rows { has_notes: false, ..self }),
            _ if incidents + causes + groups > 3 => Some(Rows {
                incidents: incidents.saturating_sub(1).max(1),
                causes: causes.saturating_sub(1).max(1),
                groups: groups.saturating_sub(1).max(1),
                ..self
            }),
            _ => None,
        }
    }
}

/// The report in as many rows as fit.
pub fn page(finding: &Finding, report: &ReportFinding, screen: &Screen) -> Page {
    let mut rows = Rows::MOST;
    loop {
        let page = with_rows(finding, report, rows, screen);
        match rows.fewer() {
            Some(fewer) if page.lines(screen) > LINES => rows = fewer,
            _ => return page,
        }
    }
}

fn with_rows(finding: &Finding, report: &ReportFinding, rows: Rows, screen: &Screen) -> Page {
    let mut page = super::opening(finding, screen);
    if let Some(found) = &report.incidents {
        page.text(Style::Headline, incidents::headline(found));
        if !found.incidents.is_empty() {
            page.grid(incidents::longest(found, rows.incidents, screen));
            page.blank();
            page.grid(incidents::causes(&found.causes, rows.causes));
        }
        let periods = found.periods.iter().take(if rows.has_notes { 1 } else { 0 });
        page.texts(Style::Plain, periods.map(|period| incidents::slow_period(period, screen)));
        page.blank();
    }
    if !report.top.groups.is_empty() {
        page.grid(top::grid(&report.top, rows.groups, screen));
    }
    // Why nothing was found is always said.
    if rows.has_notes || report.top.notes.empty.is_some() {
        page.texts(Style::Note, notes::footnotes(&report.top.notes, screen));
    }
    page.texts(Style::Note, left_out(&report.top, report.incidents.as_ref(), rows));
    page
}

/// Where the rest is.
fn left_out(top: &Top, incidents: Option<&Incidents>, rows: Rows) -> Option<String> {
    let groups = top.groups.len() as u64 + top.hidden_groups;
    let of = |shown: usize, all: u64, what: &str, command: &str| {
        (all > shown as u64).then(|| format!("{shown} of {} {what} (ltt-top {command})", grouped(all.into())))
    };
    let parts = [
        incidents.and_then(|found| of(rows.incidents, incidents::row_count(found), "incidents", "incidents")),
        incidents.and_then(|found| of(rows.causes, found.causes.len() as u64, "causes", "incidents")),
        of(rows.groups, groups, "groups", "top"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("shown: {}; what is unusual: ltt-top outliers", parts.join(", ")))
}
