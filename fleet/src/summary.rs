//! What is said of an export.

use std::collections::BTreeSet;
use std::io::Write;

use ltt_analysis::text::amount::counted;

use crate::cli::tell;
use crate::hosts::{Host, nameable};

/// The most messages about single hosts.
const MOST_MESSAGES: usize = 20;

/// How an export ended.
pub enum Outcome {
    Complete,
    /// Part of a trace is damaged and left out.
    Damaged,
    /// A host could not be exported.
    Incomplete,
}

/// What was done in all.
pub struct Summary {
    pub outcome: Outcome,
    pub events: u64,
    /// Packets that are still being written.
    pub waiting: u64,
}

impl From<Outcome> for Summary {
    fn from(outcome: Outcome) -> Summary {
        Summary { outcome, events: 0, waiting: 0 }
    }
}

/// What was done for a host.
#[derive(Default)]
pub struct Done {
    /// Whether anything was new.
    pub is_exported: bool,
    pub events: u64,
    pub incidents: u64,
    pub bytes: u64,
    pub lost: u64,
    pub damage: Vec<String>,
    /// Damaged parts of what was exported before.
    pub damaged_before: u64,
    /// Packets that are still being written.
    pub waiting: u64,
    /// Traces that are not what was exported from them, and why.
    pub refused: Vec<String>,
}

/// Prints which traces are whose, for those who export hosts on several machines.
pub fn list(hosts: &[Host], damage: &[String]) -> Result<Summary, String> {
    damage.iter().for_each(|damage| tell(&format!("warning: {damage}; left out")));
    let mut out = std::io::stdout().lock();
    for host in hosts {
        let folders = host.traces.iter().chain(&host.samples).flat_map(|trace| &trace.folders);
        let names: BTreeSet<_> = folders.map(|folder| nameable(folder)).collect();
        let line = serde_json::json!({ "host": host.name, "traces": names });
        match writeln!(out, "{line}") {
            // As with `head`: nobody wants the rest.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => break,
            written => written.map_err(|error| format!("cannot write the list: {error}"))?,
        }
    }
    Ok(if damage.is_empty() { Outcome::Complete } else { Outcome::Damaged }.into())
}

/// Says what was done.
pub fn sum_up(output: &str, damage: &[String], done: Vec<(String, Result<Done, String>)>) -> Summary {
    let mut messages: Vec<String> =
        damage.iter().map(|damage| format!("warning: {damage}; left out")).collect();
    let (mut exported, mut skipped, mut failed) = (0, 0, 0);
    let mut sum = Done::default();
    let mut is_damaged = !damage.is_empty();
    for (host, result) in done {
        let done = match result {
            Ok(done) => done,
            Err(error) => {
                failed += 1;
                messages.push(format!("error: host {host}: {error}"));
                continue;
            }
        };
        failed += u64::from(!done.refused.is_empty());
        messages.extend(done.refused.iter().map(|reason| {
            format!("error: host {host}: {reason}; this trace is left out, and what was exported of it stays")
        }));
        exported += u64::from(done.is_exported);
        skipped += u64::from(!done.is_exported && done.refused.is_empty());
        sum.events += done.events;
        sum.incidents += done.incidents;
        sum.bytes += done.bytes;
        sum.lost += done.lost;
        sum.waiting += done.waiting;
        is_damaged |= !done.damage.is_empty() || done.damaged_before > 0;
        messages.extend(done.damage.first().map(|first| {
            let parts = counted(done.damage.len() as u64, "damaged part");
            format!("warning: host {host}: {parts} left out, first {first}")
        }));
        if done.damaged_before > 0 {
            let parts = counted(done.damaged_before, "damaged part");
            messages.push(format!("warning: host {host}: {parts} left out when this was exported before"));
        }
    }
    // Errors first: they must not be among those that are left out.
    messages.sort_by_key(|message| !message.starts_with("error"));
    messages.iter().take(MOST_MESSAGES).for_each(|message| tell(message));
    if messages.len() > MOST_MESSAGES {
        tell(&format!("and {} more messages", messages.len() - MOST_MESSAGES));
    }
    let mut said = format!(
        "wrote {output}: {} of {}, {}, {} MB",
        counted(sum.events, "event"),
        counted(exported, "host"),
        counted(sum.incidents, "incident"),
        sum.bytes.div_ceil(1_000_000)
    );
    let parts = [
        (sum.lost, "event", " lost while recording"),
        (skipped, "host", " with nothing new"),
        (sum.waiting, "packet", " still being written: export again later"),
        (failed, "host", " not exported completely"),
    ];
    for (count, what, rest) in parts.into_iter().filter(|(count, ..)| *count > 0) {
        said += &format!("; {}{rest}", counted(count, what));
    }
    tell(&said);
    let outcome = match (failed, is_damaged) {
        (0, false) => Outcome::Complete,
        (0, true) => Outcome::Damaged,
        _ => Outcome::Incomplete,
    };
    Summary { outcome, events: sum.events, waiting: sum.waiting }
}
