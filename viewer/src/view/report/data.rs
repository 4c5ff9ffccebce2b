//! The data of a report: one block of JSON of bounded size. Texts of the trace are escaped for showing, times are
//! nanoseconds after the first slice begins, which JavaScript's numbers hold exactly.

use std::borrow::Cow;
use std::panic::resume_unwind;
use std::{io, thread};

use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::view::Screen;
use crate::view::table::{
    Names, cause_name, details, incident_cause, incident_notes, inner_links, key_label, link_name,
    process_name,
};
use ltt_analysis::finding::with_times;
use ltt_analysis::finding::{EventFinding, GroupFinding, GroupName, LinkFinding, Ns};
use ltt_analysis::groups::Top;
use ltt_analysis::incidents::{Charge, Incident, Incidents};
use ltt_analysis::outliers::{Outliers, PeriodKind};
use ltt_analysis::overview::{Overview, PER_OCTAVE, SliceEvents, SlicedGroup, Slices, limits};
use ltt_analysis::text::amount::counted;
use ltt_analysis::text::{escape, short_name};

/// The most bytes of the whole block, and of the slices in it.
const MOST_BYTES: usize = 920_000;
const SLICE_BYTES: usize = 560_000;
/// The most characters of a text of the trace, and of one that is made of several.
const TEXT_LENGTH: usize = 200;
const LONGEST_TEXT: usize = 4 * TEXT_LENGTH;
/// The fewest slices that a range can be chosen from.
const FEWEST_SLICES: usize = 30;

/// What the block was limited to.
pub struct Limits {
    /// The number of groups, and of those that are followed over time.
    pub groups: usize,
    pub sliced: usize,
    /// The number of incidents in full.
    pub incidents: usize,
    /// The length of a slice.
    pub slice_ns: u64,
}

impl Limits {
    /// One part in a number of everything but slices.
    fn of(overview: &Overview, slices: &Slices, part: usize) -> Limits {
        Limits {
            groups: overview.top.groups.len().div_ceil(part),
            sliced: slices.groups.len().div_ceil(part),
            incidents: 200_usize.div_ceil(part),
            slice_ns: slices.columns.width_ns,
        }
    }
}

/// The block, and what it was limited to.
pub struct Data {
    pub text: String,
    pub limits: Limits,
}

/// The block as it is written.
#[derive(Serialize)]
struct Block<'a> {
    top: Value,
    clock: Value,
    slices: Option<SlicesData<'a>>,
    groups: Value,
    incidents: IncidentsData<'a>,
    periods: Value,
    outliers: Value,
    slow: Vec<EventData>,
    clients: Value,
    processes: Value,
}

/// Most of the block: written as it is, not as values first.
#[derive(Serialize)]
struct SlicesData<'a> {
    /// Of which slices the slowest events are kept.
    kept_width_ns: u64,
    width_ns: u64,
    count: usize,
    per_octave: u64,
    events: &'a [SliceEvents],
    groups: &'a [SlicedGroup],
    others: &'a [SlicedGroup],
    slowest: [usize; 2],
}

#[derive(Serialize)]
struct IncidentsData<'a> {
    threshold_us: Ns,
    intervals: u64,
    hidden: u64,
    /// For each its beginning, how long it held the program up, and each charge with what it explains.
    marks: Vec<(i64, Ns, Charges<'a>)>,
    shown: Value,
    causes: Value,
    advice: Value,
}

/// A flat list of causes with what they explain.
struct Charges<'a>(&'a [Charge]);

#[derive(Serialize)]
struct EventData {
    at: i64,
    duration_us: Ns,
    label: String,
    client: Option<String>,
    process: Option<String>,
    because: String,
    fields: String,
    unit_is_guess: bool,
}

impl Serialize for Charges<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Charges(charges) = self;
        let mut list = serializer.serialize_seq(Some(2 * charges.len()))?;
        for Charge { cause, explained } in *charges {
            list.serialize_element(cause)?;
            list.serialize_element(explained)?;
        }
        list.end()
    }
}

/// The data of a report, with less of everything until it is small enough.
pub fn bounded(overview: &Overview, screen: &Screen) -> io::Result<Data> {
    // Nothing is left to do but this, for which there are mostly two processors.
    let (slices, first) = thread::scope(|scope| {
        let slices = scope.spawn(|| fitting(&overview.slices));
        let first = block(overview, 1, screen);
        (slices.join().unwrap_or_else(|panic| resume_unwind(panic)), first)
    });
    let (slices, mut block, mut part) = (slices?, first?, 1);
    loop {
        let limits = Limits::of(overview, &slices, part);
        block.slices = Some(SlicesData {
            kept_width_ns: overview.slices.columns.width_ns,
            width_ns: slices.columns.width_ns,
            count: slices.columns.count,
            per_octave: PER_OCTAVE,
            events: &slices.events,
            groups: &slices.groups[..limits.sliced],
            others: &slices.others,
            slowest: slices.slowest,
        });
        let text = harmless(&serde_json::to_string(&block)?);
        if text.len() <= MOST_BYTES || part >= 64 {
            return Ok(Data { text, limits });
        }
        part *= 2;
        block = self::block(overview, part, screen)?;
    }
}

/// Slices that are long enough to take little room.
fn fitting(slices: &Slices) -> io::Result<Cow<'_, Slices>> {
    let mut slices = Cow::Borrowed(slices);
    while slices.columns.count > FEWEST_SLICES && serde_json::to_string(&slices)?.len() > SLICE_BYTES {
        slices = Cow::Owned(slices.halved());
    }
    Ok(slices)
}

/// The same JSON, in which nothing ends the block, begins a comment, or changes how its neighbours are shown.
fn harmless(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    let mut rest = json;
    // Nearly all of it is plain ASCII.
    while let Some(at) = rest.bytes().position(|byte| !byte.is_ascii() || byte == b'<') {
        text.push_str(&rest[..at]);
        let mut characters = rest[at..].chars();
        characters.next().into_iter().for_each(|character| {
            match character.is_alphanumeric() || character > '\u{ffff}' {
                true => text.push(character),
                false => text.push_str(&format!("\\u{:04x}", u32::from(character))),
            }
        });
        rest = characters.as_str();
    }
    text + rest
}

/// The block without its slices, and with one part in a number of everything else.
fn block<'a>(overview: &'a Overview, part: usize, screen: &Screen) -> io::Result<Block<'a>> {
    let limits = Limits::of(overview, &overview.slices, part);
    let origin = overview.slices.columns.begin_ns;
    let at = |time: i64| (i128::from(time) - i128::from(origin)) as i64;
    let mut top: Value = serde_json::from_str(&with_times(&overview.top)?)?;
    if let Some(Value::Array(groups)) = top.get_mut("groups") {
        groups.truncate(limits.groups);
    }
    let shown = &overview.top.groups[..limits.groups];
    let names = Names::default();
    let slow = overview.slow.iter().take(usize::MAX / part).enumerate();
    let always = overview.slices.slowest[0];
    let slow = slow.filter(|(place, _)| *place < always || part == 1 || place % part == 0);
    let mut block = Block {
        top,
        clock: json!({ "begin_ns": origin.to_string(), "offset_s": screen.zone_at(origin) }),
        slices: None,
        groups: shown.iter().map(|group| self::group(group, &overview.outliers, &names)).collect(),
        incidents: incidents(&overview.incidents, limits.incidents, 5000 / part, &at),
        periods: periods(&overview.incidents, &at),
        outliers: outliers(&overview.outliers, &names, &at),
        slow: slow.map(|(_, event)| event_data(event, &names, &at)).collect(),
        clients: overview.clients.iter().flat_map(clients).collect(),
        processes: processes(overview),
    };
    let Block { top, groups, incidents, periods, outliers, clients, processes, .. } = &mut block;
    let IncidentsData { shown, causes, advice, .. } = incidents;
    for value in [top, groups, shown, causes, advice, periods, outliers, clients, processes] {
        bound_texts(value);
    }
    Ok(block)
}

/// Cuts long texts of the trace.
fn bound_texts(value: &mut Value) {
    match value {
        Value::String(text) => *text = cut_at(std::mem::take(text), LONGEST_TEXT),
        Value::Array(elements) => elements.iter_mut().for_each(bound_texts),
        Value::Object(members) => members.values_mut().for_each(bound_texts),
        _ => {}
    }
}

fn cut(text: &str) -> String {
    cut_at(text.to_owned(), TEXT_LENGTH)
}

/// A text of at most this many characters, and a sign that it was longer.
fn cut_at(mut text: String, most: usize) -> String {
    if let Some((end, _)) = text.char_indices().nth(most) {
        text.truncate(end);
        text.push('…');
    }
    text
}

fn group(group: &GroupFinding, outliers: &Outliers, names: &Names) -> Value {
    let is_of = |name: &GroupName| {
        name.event == group.name.event && group.name.key.0.iter().all(|pair| name.key.0.contains(pair))
    };
    let modes = outliers.modes.iter().filter(|mode| is_of(&mode.name));
    json!({
        "label": cut(&names.group(&group.name)),
        "unit_is_guess": group.unit_is_guess,
        "limits_us": limits(outliers, &group.name),
        "modes": modes.map(|mode| json!({ "range_us": [mode.from, mode.to], "reason": mode.reason })).collect::<Vec<_>>(),
    })
}

fn incidents<'a>(
    found: &'a Incidents,
    in_full: usize,
    most: usize,
    at: &impl Fn(i64) -> i64,
) -> IncidentsData<'a> {
    let mut advice: Vec<String> = Vec::new();
    let mut advise = |text: &Option<String>| {
        text.as_ref().map(|text| {
            let text = escape::text(text);
            advice.iter().position(|known| *known == text).unwrap_or_else(|| {
                advice.push(text);
                advice.len() - 1
            })
        })
    };
    let mut longest: Vec<usize> = (0..found.incidents.len()).collect();
    longest.sort_by_key(|&place| (std::cmp::Reverse(found.incidents[place].held), place));
    longest.truncate(most);
    // In the order of time, as marks are drawn.
    let mut marked = longest.clone();
    marked.sort_unstable();
    let mark = |&place: &usize| {
        let incident = &found.incidents[place];
        (at(incident.begin_ns), incident.held, Charges(&incident.charges))
    };
    let marks: Vec<_> = marked.iter().map(mark).collect();
    let shown: Value = longest
        .iter()
        .take(in_full)
        .filter_map(|place| {
            let mark = marked.binary_search(place).ok()?;
            Some(incident(&found.incidents[*place], mark, advise(&found.incidents[*place].advice)))
        })
        .collect();
    let causes: Value = found
        .causes
        .iter()
        .map(|cause| {
            json!({
                "label": cut(&cause_name(cause)),
                "count": cause.count,
                "total_us": cause.total,
                "longest_us": cause.longest,
                "advice": advise(&cause.advice),
            })
        })
        .collect();
    IncidentsData {
        threshold_us: found.threshold,
        intervals: found.intervals,
        hidden: found.found - marks.len() as u64,
        marks,
        shown,
        causes,
        advice: advice.into(),
    }
}

fn incident(incident: &Incident, mark: usize, advice: Option<usize>) -> Value {
    let link = |link: &LinkFinding| {
        json!({
            "label": cut(&key_label(&link.event, &link.key)),
            "us": link.spent,
            "own_us": link.own,
            "number": link.count,
            "client": link.client.as_ref().map(|client| cut(&escape::datum(client))),
            "is_cause": incident.cause.as_ref() == Some(link),
        })
    };
    json!({
        "mark": mark,
        "cause": cut(&incident_cause(incident)),
        "process": cut(&process_name(&incident.process)),
        "chain": incident.chain.iter().map(link).collect::<Vec<_>>(),
        "unexplained_us": incident.unexplained,
        "waited": incident.waited,
        "not_served": incident.not_served,
        "notes": incident_notes(incident),
        "advice": advice,
    })
}

fn periods(found: &Incidents, at: &impl Fn(i64) -> i64) -> Value {
    let period = found.periods.iter().map(|period| {
        let spans = period.spans.iter().map(|span| json!([at(span.begin_ns), at(span.end_ns)]));
        json!({ "text": period.reason, "spans": spans.collect::<Vec<_>>() })
    });
    period.collect()
}

fn outliers(found: &Outliers, names: &Names, at: &impl Fn(i64) -> i64) -> Value {
    let row = |what: &str, lost: Ns, events: u64, begin: i64, label: String, reason: &str| {
        json!({
            "what": what,
            "lost_us": lost,
            "events": events,
            "at": at(begin),
            "label": cut(&label),
            "reason": reason,
        })
    };
    let periods = found.periods.iter().map(|period| {
        let what = if period.kind == PeriodKind::Shift { "level shift" } else { "slow period" };
        let group = period.groups.first().map_or(String::new(), |shift| names.group(&shift.name));
        let more = match period.groups.len() {
            0 | 1 => String::new(),
            groups => format!(" and {}", counted(groups as u64 - 1, "other")),
        };
        row(what, period.lost, period.count, period.begin_ns, group + &more, &period.reason)
    });
    let modes = found.modes.iter().map(|mode| {
        row("slow mode", mode.lost, mode.count, mode.begin_ns, names.group(&mode.name), &mode.reason)
    });
    let drifts = found.drifts.iter().map(|drift| {
        row("drift", drift.lost, drift.count, drift.begin_ns, names.group(&drift.name), &drift.reason)
    });
    let events = found.events.iter().map(|outlier| {
        let event = &outlier.event;
        let reason = event.reason.clone().unwrap_or_default();
        row("single event", event.duration, 1, event.timestamp_ns, names.event(event), &reason)
    });
    periods.chain(modes).chain(drifts).chain(events).collect()
}

fn event_data(event: &EventFinding, names: &Names, at: &impl Fn(i64) -> i64) -> EventData {
    let because = inner_links(event).map(link_name).collect::<Vec<_>>().join(" < ");
    EventData {
        at: at(event.timestamp_ns),
        duration_us: event.duration,
        label: cut(&names.event(event)),
        client: event.client.as_ref().map(|client| cut(&escape::datum(client))),
        process: event.pid.as_ref().map(|pid| cut_at(escape::datum(pid), LONGEST_TEXT)),
        because: cut(&because),
        fields: cut(&details(event)),
        unit_is_guess: event.unit_is_guess,
    }
}

fn clients(top: &Top) -> Vec<Value> {
    let client = |group: &GroupFinding| {
        let label: Vec<String> = group.name.key.0.iter().map(|(_, value)| escape::datum(value)).collect();
        let mut row = json!({
            "label": cut(&label.join(" ")),
            "event": escape::text(short_name(&group.name.event)),
            "count": group.count,
            "total_us": group.total,
            "max_us": group.max,
        });
        if let Value::Object(row) = &mut row {
            let percentiles = group.percentiles.0.iter();
            row.extend(
                percentiles.map(|(quantile, value)| (format!("{}_us", quantile.name()), json!(value))),
            );
        }
        row
    };
    top.groups.iter().map(client).collect()
}

fn processes(overview: &Overview) -> Value {
    let processes = overview.info.processes.iter().flatten();
    processes
        .map(|process| {
            let label: Vec<String> =
                [&process.pid, &process.name].into_iter().flatten().map(escape::datum).collect();
            json!({
                "label": cut(&label.join(" ")),
                "host": process.host.as_deref().map(escape::text),
                "events": process.events,
            })
        })
        .collect()
}
