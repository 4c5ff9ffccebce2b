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
pub(super) use incidents::{meanwhile as meanwhile_of, process as process_name};
pub(super) use label::{Names, details, figure, link as link_name};

use std::io::{self, Write};

use super::{Screen, notes};
use crate::analysis::Finding;

/// Writes a finding: what was read, what was found, and what to know about it.
pub fn write(finding: &Finding, screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
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
    };
    let mut lines = footnotes;
    lines.extend(notes::footnotes(finding.notes(), screen));
    notes::footing(&lines, screen, out)
}
