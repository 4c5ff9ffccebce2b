//! Findings as JSON. `docs/findings.schema.json` describes the objects, which are stable.

use std::io::{self, Write};

use super::events::{Form, JsonForm};
use super::output::{EventStream, Output};
use super::{Screen, notes};
use ltt_analysis::Finding;

/// Writes a finding as one object on one line.
struct Json {
    screen: Screen,
}

pub(super) fn output(screen: &Screen) -> Box<dyn Output> {
    Box::new(Json { screen: screen.clone() })
}

impl Output for Json {
    fn write(&self, finding: &Finding, out: &mut dyn Write) -> io::Result<Vec<String>> {
        // Each event was a line, and no program expects another object after them.
        if let Finding::Events(_) = finding {
            return Ok(notes::warnings(finding, &self.screen));
        }
        writeln!(out, "{}", finding.to_json()?)?;
        Ok(Vec::new())
    }

    fn events(&self, stream: EventStream) -> io::Result<Box<dyn Form>> {
        Ok(Box::new(JsonForm::new(stream.stacks)))
    }
}
