//! What a comparison must not find, for CI: JUnit's XML, and annotations of GitHub Actions.

use std::io::{self, Write};

use super::output::{Format, Output, unsupported};
use super::table::Names;
use ltt_analysis::Finding;
use ltt_analysis::compare::{Compare, FailureFinding};
use ltt_analysis::text::escape;

/// A format for files only: each limit is a test.
pub const JUNIT: Format =
    Format { name: "junit", about: "For CI", is_for_people: false, output: |_| Box::new(Junit) };

struct Junit;

impl Output for Junit {
    fn write(&self, finding: &Finding, out: &mut dyn Write) -> io::Result<Vec<String>> {
        let Finding::Compare(compare) = finding else {
            return Err(unsupported("only compare writes JUnit's XML"));
        };
        let failures_of = |condition: &String| -> Vec<String> {
            compare.failures.iter().filter(|failure| failure.condition == *condition).map(said).collect()
        };
        let failed = compare.checked.iter().filter(|condition| !failures_of(condition).is_empty()).count();
        writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
        writeln!(
            out,
            "<testsuite name=\"ltt-top compare\" tests=\"{}\" failures=\"{failed}\">",
            compare.checked.len()
        )?;
        for condition in &compare.checked {
            let name = escaped(condition);
            let failures = failures_of(condition);
            match failures.first() {
                None => writeln!(out, "  <testcase classname=\"compare\" name=\"{name}\"/>")?,
                Some(first) => writeln!(
                    out,
                    "  <testcase classname=\"compare\" name=\"{name}\"><failure message=\"{}\">{}</failure></testcase>",
                    escaped(first),
                    escaped(&failures.join("\n"))
                )?,
            }
        }
        writeln!(out, "</testsuite>")?;
        Ok(Vec::new())
    }
}

/// Prints each failure as GitHub Actions show it beside a build.
pub fn annotations(compare: &Compare, out: &mut dyn Write) -> io::Result<()> {
    let escaped = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    compare.failures.iter().try_for_each(|failure| {
        // A title ends at a comma or a colon.
        let title = escaped(&failure.condition).replace(':', "%3A").replace(',', "%2C");
        writeln!(out, "::error title=ltt-top compare {title}::{}", escaped(&said(failure)))
    })
}

/// A failure as people read it.
pub fn line(failure: &FailureFinding) -> String {
    format!("fails {}: {}", failure.condition, said(failure))
}

/// What was found, in one line. A reason may have names from a damaged trace, whatever is in them.
fn said(failure: &FailureFinding) -> String {
    let reason = escape::text(&failure.reason);
    match &failure.name {
        Some(name) => format!("{}: {reason}", Names::default().group(name)),
        None => reason,
    }
}

/// Text as XML has it; what XML has no place for is left out.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars().filter(|character| !character.is_control() || *character == '\n') {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            other => escaped.push(other),
        }
    }
    escaped
}
