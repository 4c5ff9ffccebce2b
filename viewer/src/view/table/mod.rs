//! Findings as text for a terminal.

mod brief;
mod cause;
mod compare;
mod grid;
mod heat;
mod hist;
mod incidents;
mod info;
mod label;
mod outliers;
mod page;
mod slow;
mod top;

pub(super) use cause::{cause_name, held_by, incident_name};
pub use heat::GUTTER as HEAT_GUTTER;
pub(super) use incidents::meanwhile as meanwhile_of;
pub(super) use incidents::{
    cause as incident_cause, footnotes as incident_footnotes, headline as incident_headline,
    notes as incident_notes, process as process_name, short_range, slow_period,
};
pub(super) use label::figure;
pub(super) use label::{Names, details, link as link_name, name as key_label};
pub(super) use outliers::{footnotes as outlier_footnotes, rule as outlier_rule};
pub(super) use slow::inner as inner_links;

use std::io::{self, Write};

#[cfg(test)]
pub(super) use grid::Column;
pub(super) use grid::Grid;
pub(super) use page::{Block, Page, Style};

use super::events::{Form, TextForm};
use super::output::{EventStream, Output};
use super::{Screen, live, notes};
use ltt_analysis::Finding;
use ltt_analysis::groups::Top;
use ltt_analysis::incidents::Incidents;
use ltt_analysis::outliers::Outliers;

/// Writes findings for a terminal.
struct Table {
    screen: Screen,
}

pub(super) fn output(screen: &Screen) -> Box<dyn Output> {
    Box::new(Table { screen: screen.clone() })
}

impl Output for Table {
    fn write(&self, finding: &Finding, out: &mut dyn Write) -> io::Result<Vec<String>> {
        match finding {
            Finding::Live(finding) => live::table(finding, &self.screen, out)?,
            // The lines of events are for programs, too, as Babeltrace's are.
            Finding::Events(_) => return Ok(notes::warnings(finding, &self.screen)),
            Finding::Report(report) if report.is_brief => {
                brief::page(finding, report, &self.screen).write(&self.screen, out)?;
            }
            finding => page(finding, &self.screen).write(&self.screen, out)?,
        }
        Ok(Vec::new())
    }

    fn events(&self, stream: EventStream) -> io::Result<Box<dyn Form>> {
        Ok(Box::new(TextForm::new(self.screen.clone(), stream.stacks)))
    }
}

/// What slow events have in common, a line each.
pub(super) fn shared_by(found: &Outliers) -> Vec<String> {
    outliers::shared(found, &Names::default())
}

/// What was read, and what is missing from it.
fn opening(finding: &Finding, screen: &Screen) -> Page {
    let mut page = Page::default();
    // A comparison names both of its recordings.
    if !matches!(finding, Finding::Compare(_)) {
        page.text(Style::Plain, notes::heading(finding.trace(), screen));
    }
    let warnings = notes::losses(finding.trace()).into_iter().chain(notes::outside(finding));
    page.texts(Style::Warning, warnings.map(|warning| format!("warning: {warning}")));
    page
}

/// What a finding comes to: what was read, what was found, and what to know about it.
pub(super) fn page(finding: &Finding, screen: &Screen) -> Page {
    let mut page = opening(finding, screen);
    let mut report = |incidents: Option<&Incidents>, top: &Top| {
        if let Some(found) = incidents {
            incidents::add(found, screen, &mut page);
            page.blank();
        }
        top::add(top, screen, &mut page);
    };
    match finding {
        Finding::Report(found) => report(found.incidents.as_ref(), &found.top),
        Finding::Overview(found) => report(Some(&found.incidents), &found.top),
        Finding::Incidents(incidents) => incidents::add(incidents, screen, &mut page),
        Finding::Top(top) => top::add(top, screen, &mut page),
        Finding::Slow(slow) => slow::add(slow, screen, &mut page),
        Finding::Outliers(outliers) => outliers::add(outliers, screen, &mut page),
        Finding::Hist(hist) => hist::add(hist, screen, &mut page),
        Finding::Heat(heat) => heat::add(heat, screen, &mut page),
        Finding::Info(info) => info::add(info, screen, &mut page),
        Finding::Compare(compare) => compare::add(compare, screen, &mut page),
        Finding::Live(live) => top::add(&live.top, screen, &mut page),
        Finding::Events(_) | Finding::Timeline(_) => {}
    }
    page.texts(Style::Note, notes::footnotes(finding.notes(), screen));
    page
}
