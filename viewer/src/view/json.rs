//! Findings as JSON. The forms are documented in the crate's README and are stable.

use std::io::{self, Write};

use crate::analysis::Finding;

/// Writes a finding as one object on one line.
pub fn write(finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, finding)?;
    writeln!(out)
}
