//! Notes on a result: what was lost, left out, or guessed.

use super::{Screen, gate};
use ctf_reader::MAX_DAMAGE;
use ltt_analysis::finding::{
    DamageFinding, Empty, EmptyCause, Forgotten, GroupName, Notes, Ns, TraceFinding,
};
use ltt_analysis::info::TraceInfo;
use ltt_analysis::text::amount::{counted, times};
use ltt_analysis::text::{escape, suggestion};
use ltt_analysis::{Finding, LeftOut};

/// The number of damaged places that are listed.
const DAMAGE_SHOWN: usize = 5;

/// What was read.
pub fn heading(trace: &TraceFinding, screen: &Screen) -> String {
    let events = counted(trace.events, "event");
    match (trace.begin_ns, trace.length_ns) {
        (Some(begin), Some(length)) => {
            let length = Ns::from(length).in_words();
            format!("{events} in {length} from {}", screen.date_and_time(begin))
        }
        _ => events,
    }
}

/// What must be said beside an output that has no place for it.
pub fn warnings(finding: &Finding, screen: &Screen) -> Vec<String> {
    let mut warnings = losses(finding.trace());
    warnings.extend(outside(finding));
    if let Finding::Compare(compare) = finding {
        warnings.extend(losses(&compare.before));
        warnings.extend(compare.failures.iter().map(gate::line));
    }
    warnings.extend(finding.notes().empty.iter().map(|empty| self::empty(empty, screen)));
    warnings
}

/// What is missing from the trace, and what to do about it.
pub fn losses(trace: &TraceFinding) -> Vec<String> {
    let mut losses = Vec::new();
    if trace.discarded_events > 0 {
        losses.push(format!(
            "{} discarded because the tracer's buffers were full: counts and totals are too low, and the \
             busiest moments are missing most; record with a larger --subbuf-size or --num-subbuf",
            counted(trace.discarded_events, "event")
        ));
    }
    if trace.lost_packets > 0 {
        losses.push(format!(
            "{} overwritten before they were saved, so the trace has gaps; record with larger buffers",
            counted(trace.lost_packets, "packet")
        ));
    }
    if trace.clock_steps.count > 0 {
        losses.push(format!(
            "a clock ran backwards {}, by up to {}: times and durations around there are wrong, and so may be \
             the order of events",
            times(trace.clock_steps.count),
            Ns::from(trace.clock_steps.largest_ns).in_words()
        ));
    }
    let shown = trace.damage.iter().take(DAMAGE_SHOWN);
    losses.extend(shown.map(|damage| format!("left out: {}", place(damage))));
    if trace.damage.len() > DAMAGE_SHOWN {
        let more = counted((trace.damage.len() - DAMAGE_SHOWN) as u64, "place");
        losses.push(match trace.damage.len() < MAX_DAMAGE {
            true => format!("left out: {more} more; `ltt-top info --format json` lists all"),
            false => {
                format!("left out: at least {more} more; `ltt-top info --format json` lists {MAX_DAMAGE}")
            }
        });
    }
    losses
}

/// Which traces have events outside of their session's times, and what to do about it.
pub fn outside(finding: &Finding) -> Vec<String> {
    let Finding::Info(info) = finding else { return Vec::new() };
    let of_trace = |trace: &TraceInfo| {
        let outside = trace.outside?;
        let words =
            |length: u64, what: &str| (length > 0).then(|| format!("{} {what}", Ns::from(length).in_words()));
        let before = words(outside.before_ns, "before their session was created");
        let after = words(outside.after_ns, "after its files were last written");
        let far = before.into_iter().chain(after).collect::<Vec<_>>().join(" and ");
        let folder = trace.folders.first().map_or("a trace".into(), |folder| escape::text(folder));
        Some(format!(
            "{folder} has events up to {far}: the program's clock is not the session daemon's; give both the same clock \
             plugin (LTTNG_UST_CLOCK_PLUGIN) or neither, and check that the machine's time was not set meanwhile"
        ))
    };
    info.traces.iter().filter_map(of_trace).collect()
}

/// What was left out on purpose or guessed, and why nothing was found.
pub fn footnotes(notes: &Notes, screen: &Screen) -> Vec<String> {
    let mut lines: Vec<String> = notes.empty.iter().map(|empty| self::empty(empty, screen)).collect();
    lines.extend(forgotten(notes.forgotten));
    lines.extend(implausible(notes.implausible, &notes.implausible_in));
    lines.extend(left_out(&notes.left_out));
    if !notes.guessed_units.is_empty() {
        let names = listed(notes.guessed_units.iter());
        lines.push(format!(
            "?: the unit is unknown and assumed to be ns (override with --duration FIELD --unit us): {names}"
        ));
    }
    lines
}

/// Which filter no event passed, and what would have matched.
fn empty(empty: &Empty, screen: &Screen) -> String {
    let filter = escape::text(empty.filter.as_deref().unwrap_or_default());
    let events = counted(empty.events, "event");
    match empty.cause {
        EmptyCause::Trace => "nothing found: the trace has no events".into(),
        EmptyCause::Window => {
            let time = |ns: Option<i64>| ns.map_or("-".into(), |ns| screen.date_and_time(ns));
            let (begin, end) = (time(empty.trace_begin_ns), time(empty.trace_end_ns));
            format!("nothing found: no events match {filter}; the trace is from {begin} to {end}")
        }
        EmptyCause::Name => format!("nothing found: no match for {filter} in {events}"),
        EmptyCause::Repeats => {
            "nothing found: all matching events only repeat others; --all includes them".into()
        }
        EmptyCause::Fields => format!("nothing found: no event has all of the fields {filter}"),
        EmptyCause::Condition => {
            let meant = suggestion(empty.did_you_mean.as_deref());
            let values = match empty.range.filter(|_| empty.has_more_values) {
                Some((least, most)) => format!(" (values: {least} to {most})"),
                None if empty.values.is_empty() => String::new(),
                None => {
                    let values: Vec<String> = empty.values.iter().map(escape::datum).collect();
                    let more = if empty.has_more_values { ", …" } else { "" };
                    format!(" (values: {}{more})", values.join(", "))
                }
            };
            format!("nothing found: no match for {filter} in {events}{meant}{values}")
        }
    }
}

/// The events whose durations are implausible.
fn implausible(count: u64, groups: &[GroupName]) -> Option<String> {
    (count > 0).then(|| {
        let durations = counted(count, "implausible duration");
        let key =
            |name: &GroupName| name.key.0.iter().map(|(_, value)| escape::datum(value)).collect::<Vec<_>>();
        let name = |name: &GroupName| [vec![escape::text(&name.event)], key(name)].concat().join(" ");
        let names = match groups {
            [] => "see `ltt-top top`".to_owned(),
            _ => groups.iter().map(name).collect::<Vec<_>>().join(", "),
        };
        format!("{durations} (2^63 or more: the clock stepped back) not included in any figure: {names}")
    })
}

fn place(damage: &DamageFinding) -> String {
    let offset = damage.offset.map_or(String::new(), |offset| format!(" at byte {offset}"));
    escape::text(&format!("{}{offset}: {}", damage.path, damage.reason))
}

/// What was too much to be told apart.
fn forgotten(forgotten: Forgotten) -> Vec<String> {
    let Forgotten { threads, clients, names, samples } = forgotten;
    let limits = [
        (threads, "threads: the later ones of a process count as one, and may be held up together"),
        (clients, "clients: later ones are shown as -, and who waited is counted too low"),
        (names, "names of groups: later ones count as one"),
        (samples, "threads with samples of the scheduler: some have none, and are explained by events alone"),
    ];
    let reached = limits.into_iter().filter(|(count, _)| *count > 0);
    reached
        .map(|(_, what)| format!("too many {what}; a window (--since, --until) with fewer has them all"))
        .collect()
}

/// The events left out because they repeat others, and those without a wanted field.
fn left_out(left_out: &LeftOut) -> Vec<String> {
    let mut notes = Vec::new();
    let LeftOut { repeats, without_field, derived } = left_out;
    if *derived {
        notes.push(
            "recorded by the module for stock servers: durations of commands are derived (they end where the next one begins \
             or the loop sleeps), and so are turns of the event loop unless the module was preloaded; a server before Redis 7.2 \
             does not say who its clients are"
                .to_owned(),
        );
    }
    if !repeats.is_empty() {
        let events = counted(repeats.values().sum(), "event");
        let names = listed(repeats.keys());
        notes.push(format!("left out: {events} that only repeat others (--all includes them): {names}"));
    }
    if !without_field.is_empty() {
        let events = counted(without_field.values().sum(), "event");
        let kinds = counted(without_field.len() as u64, "kind");
        notes.push(format!("left out: {events} of {kinds} without a requested field"));
    }
    notes
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
