//! Findings as text for a terminal.

mod grid;
mod heat;
mod hist;
mod incidents;
mod info;
mod label;
mod outliers;
mod slow;
mod top;

pub use heat::GUTTER as HEAT_GUTTER;
pub(super) use label::{Names, details, figure, link as link_name};

use std::io::{self, Write};

use super::events::{Form, TextForm};
use super::output::{EventStream, Output};
use super::{Screen, live, notes};
use crate::analysis::Finding;

/// Writes a finding: what was read, what was found, and what to know about it.
struct Table {
    screen: Screen,
}

pub(super) fn output(screen: &Screen) -> Box<dyn Output> {
    Box::new(Table { screen: screen.clone() })
}

impl Output for Table {
    fn write(&self, finding: &Finding, out: &mut dyn Write) -> io::Result<Vec<String>> {
        match finding {
            Finding::Live(finding) => live::table(finding, &self.screen, out).map(|()| Vec::new()),
            // The events are text for programs, too, as Babeltrace's is.
            Finding::Events(_) => Ok(notes::warnings(finding, &self.screen)),
            finding => write(finding, &self.screen, out).map(|()| Vec::new()),
        }
    }

    fn events(&self, stream: EventStream) -> io::Result<Box<dyn Form>> {
        Ok(Box::new(TextForm::new(self.screen.clone(), stream.stacks)))
    }
}

/// Writes a finding that is complete.
pub(super) fn write(finding: &Finding, screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
    notes::heading(finding.trace(), screen, out)?;
    let footnotes = match finding {
        Finding::Report(report) => {
            if let Some(found) = &report.incidents {
                let footnotes = incidents::write(found, screen, out)?;
                notes::footing(&footnotes, screen, out)?;
                writeln!(out)?;
            }
            top::write(&report.top, screen, out)?
        }
        Finding::Incidents(incidents) => incidents::write(incidents, screen, out)?,
        Finding::Top(top) => top::write(top, screen, out)?,
        Finding::Slow(slow) => slow::write(slow, screen, out)?,
        Finding::Outliers(outliers) => outliers::write(outliers, screen, out)?,
        Finding::Hist(hist) => hist::write(hist, screen, out)?,
        Finding::Heat(heat) => heat::write(heat, screen, out)?,
        Finding::Info(info) => info::write(info, screen, out)?,
        Finding::Events(_) | Finding::Live(_) => Vec::new(),
    };
    let mut lines = footnotes;
    lines.extend(notes::footnotes(finding.notes(), screen));
    notes::footing(&lines, screen, out)
}
