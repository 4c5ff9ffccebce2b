//! What a reader must know to trust a result: what was lost, left out, or guessed.

use std::collections::BTreeSet;
use std::io::{self, Write};

use super::amount::{counted, duration_in_words};
use super::{Screen, escape};
use crate::analysis::{Kind, LeftOut};
use ctf_reader::Report;

/// How many places of damage are listed one by one.
const DAMAGE_SHOWN: usize = 5;

/// Writes what was read, and what is missing from it.
pub fn heading(report: &Report, screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
    let events = counted(report.events, "event");
    let heading = match &report.span {
        Some(span) => {
            let length = duration_in_words(span.end().abs_diff(*span.start()) as f64);
            format!("{events} in {length} from {}", screen.date_and_time(*span.start()))
        }
        None => events,
    };
    screen.wrapped(&heading).iter().try_for_each(|line| writeln!(out, "{line}"))?;
    for warning in losses(report) {
        for line in screen.wrapped(&format!("warning: {warning}")) {
            writeln!(out, "{}", screen.warning(&line))?;
        }
    }
    Ok(())
}

/// What is missing from the trace, and what to do about it.
pub fn losses(report: &Report) -> Vec<String> {
    let mut losses = Vec::new();
    if report.discarded_events > 0 {
        losses.push(format!(
            "{} discarded because the tracer's buffers were full: counts and totals are too low, and the \
             busiest moments are missing most; record with a larger --subbuf-size or --num-subbuf",
            counted(report.discarded_events, "event")
        ));
    }
    if report.lost_packets > 0 {
        losses.push(format!(
            "{} overwritten before they were saved: the trace has gaps; record with larger buffers",
            counted(report.lost_packets, "packet")
        ));
    }
    let shown = report.damage.iter().take(DAMAGE_SHOWN);
    losses.extend(shown.map(|damage| format!("left out: {}", escape::text(&damage.to_string()))));
    if report.damage.len() > DAMAGE_SHOWN {
        let more = (report.damage.len() - DAMAGE_SHOWN) as u64;
        losses.push(format!(
            "left out: {} more; `ltt-top info --format json` lists all",
            counted(more, "place")
        ));
    }
    losses
}

/// Writes what was left out on purpose or guessed.
pub fn footing(notes: &[String], screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
    let mut lines = notes.iter().flat_map(|note| screen.wrapped(note));
    lines.try_for_each(|line| writeln!(out, "{}", screen.paint("2", &line)))
}

/// The events whose durations are implausible.
pub fn implausible(count: u64, which: &str) -> Option<String> {
    (count > 0).then(|| {
        let durations = counted(count, "implausible duration");
        format!("{durations} (2^63 or more: the clock stepped back) in no figure: {which}")
    })
}

/// The events left out because they repeat others, and those without a wanted field.
pub fn left_out(left_out: &LeftOut) -> Vec<String> {
    let mut notes = Vec::new();
    let LeftOut { repeats, without_field } = left_out;
    if !repeats.is_empty() {
        let events = counted(repeats.values().sum(), "event");
        let names = listed(repeats.keys());
        notes.push(format!("left out: {events} that only repeat others (--all includes them): {names}"));
    }
    if !without_field.is_empty() {
        let events = counted(without_field.values().sum(), "event");
        let kinds = counted(without_field.len() as u64, "kind");
        notes.push(format!("left out: {events} of {kinds} that have no such field"));
    }
    notes
}

/// Units that nobody said.
pub fn guesses<'a>(kinds: impl Iterator<Item = &'a Kind>) -> Option<String> {
    let guessed: BTreeSet<&String> =
        kinds.filter(|kind| kind.unit_is_guess).map(|kind| &kind.event).collect();
    (!guessed.is_empty()).then(|| {
        let names = listed(guessed.into_iter());
        format!("the unit is not known and taken to be ns (say --duration FIELD --unit us): {names}")
    })
}

/// The first few names.
fn listed<'a>(names: impl ExactSizeIterator<Item = &'a String>) -> String {
    const SHOWN: usize = 6;
    let hidden = names.len().saturating_sub(SHOWN);
    let mut text = names.take(SHOWN).map(|name| escape::text(name)).collect::<Vec<_>>().join(", ");
    if hidden > 0 {
        text += &format!(" and {hidden} more");
    }
    text
}
