//! A table every interval.

use std::io::{self, Write};

use super::lines;
use crate::view::{Screen, table};
use ltt_analysis::Finding;
use ltt_analysis::live::LiveFinding;
use ltt_analysis::text::amount::counted;

/// Writes a finding as a table under a line with its time.
pub fn table(finding: &LiveFinding, screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
    let time = finding.time_ns.map_or("-".into(), |time| screen.time_of_day(time));
    let window = format!("window {}", finding.window);
    let heading = [vec![time, lines::lag(finding), window], lines::sessions(finding)].concat().join(", ");
    for line in screen.wrapped(&heading) {
        writeln!(out, "{}", screen.bold(&line))?;
    }
    table::page(&Finding::Top(finding.top.clone()), screen).write(screen, out)?;
    for incident in &finding.incidents {
        let line = format!("incident: {}", lines::incident(incident, screen));
        screen.wrapped(&line).iter().try_for_each(|line| writeln!(out, "{line}"))?;
    }
    if finding.hidden_incidents > 0 {
        writeln!(out, "and {}", counted(finding.hidden_incidents, "shorter incident"))?;
    }
    writeln!(out)
}
