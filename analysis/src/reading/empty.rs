//! Why no event passed the filters: a separate reading, only if an analysis found nothing.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::convert::Infallible;
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::datum::Datum;
use crate::finding::{Empty, EmptyCause};
use crate::reading::key;
use crate::reading::roster::Roster;
use crate::reading::selection::Selection;
use crate::reading::{Failure, SourceWindow};
use crate::source::Source;
use crate::text::escape;
use ctf_reader::{Collect, EventClass, Events, Wanted};
use lttng_catalog::nearest;

/// The number of distinct values to choose a suggestion from, and the most bytes that are kept of each.
const VALUES: usize = 1000;
const VALUE_LENGTH: usize = 64;

/// The number of values that are shown.
const NAMED: usize = 6;

/// Finds the filter that no event passed; none if events passed but had no duration.
pub fn explain<S: Source>(
    input: &mut SourceWindow<'_, S>,
    selection: &Arc<Selection>,
) -> Result<Option<Empty>, Failure> {
    let (collector, report) = input.read(EmptyCollector::new(Roster::new(Arc::clone(selection))))?;
    if report.events == 0 {
        return Ok(Some(outside_window(input)?));
    }
    let EmptyCollector { roster, passed, failed } = collector;
    let left_out = roster.finish()?;
    let candidates = passed.first().copied().unwrap_or(0);
    if candidates == 0 {
        let (cause, filter) = if !left_out.repeats.is_empty() {
            (EmptyCause::Repeats, None)
        } else if !left_out.without_field.is_empty() {
            (EmptyCause::Fields, Some(selection.wanted_fields().collect::<Vec<_>>().join(", ")))
        } else {
            let globs: Vec<String> = selection.events.iter().map(|glob| format!("--event {glob}")).collect();
            (EmptyCause::Name, Some(globs.join(" ")))
        };
        return Ok(Some(Empty { cause, filter, events: report.events, ..Empty::default() }));
    }
    let conditions = selection.conditions.iter().enumerate();
    let mut fatal = conditions.filter(|(place, _)| passed.get(place + 1).is_none_or(|&count| count == 0));
    let Some((place, condition)) = fatal.next() else { return Ok(None) };
    let mut values: Vec<(Datum, u64)> = failed.get(place).into_iter().flatten().filter_map(named).collect();
    values.sort_by_key(|(value, count)| (Reverse(*count), integer(value), escape::datum(value)));
    let names: Vec<String> = values.iter().map(|(value, _)| escape::datum(value)).collect();
    let integers: Option<Vec<i128>> = values.iter().map(|(value, _)| integer(value)).collect();
    let is_text = integers.is_none();
    let meant = nearest(condition.operand(), names.iter().map(String::as_str)).filter(|_| is_text);
    Ok(Some(Empty {
        cause: EmptyCause::Condition,
        filter: Some(condition.given.clone()),
        events: passed[place],
        did_you_mean: meant.map(str::to_owned),
        range: integers.and_then(|all| Some((*all.iter().min()?, *all.iter().max()?))),
        has_more_values: values.len() > NAMED,
        values: values.into_iter().take(NAMED).map(|(value, _)| value).collect(),
        ..Empty::default()
    }))
}

fn named((bytes, count): (&Vec<u8>, &u64)) -> Option<(Datum, u64)> {
    Some((key::values(bytes).next()?, *count))
}

fn integer(value: &Datum) -> Option<i128> {
    match value {
        Datum::Integer(number) => Some(*number),
        _ => None,
    }
}

/// No event is in the window, or in the trace at all.
fn outside_window<S: Source>(input: &mut SourceWindow<'_, S>) -> Result<Empty, Failure> {
    let span = input.source.span()?;
    let window = input.window;
    let bounds = [window.since.map(|_| "--since"), window.until.map(|_| "--until")];
    let bounds: Vec<&str> = bounds.into_iter().flatten().collect();
    let is_window = span.is_some() && !bounds.is_empty();
    Ok(Empty {
        cause: if is_window { EmptyCause::Window } else { EmptyCause::Trace },
        filter: is_window.then(|| bounds.join(" and ")),
        trace_begin_ns: span.as_ref().map(|span| *span.start()),
        trace_end_ns: span.as_ref().map(|span| *span.end()),
        ..Empty::default()
    })
}

/// Counts how many events meet the first 0, 1, 2, … conditions, and which values fail the next one.
struct EmptyCollector {
    roster: Roster,
    passed: Vec<u64>,
    failed: Vec<HashMap<Vec<u8>, u64>>,
}

impl EmptyCollector {
    fn new(roster: Roster) -> Self {
        let conditions = roster.selection().conditions.len();
        EmptyCollector { roster, passed: vec![0; conditions + 1], failed: vec![HashMap::new(); conditions] }
    }

    fn fail(&mut self, place: usize, value: Vec<u8>, count: u64) {
        let values = &mut self.failed[place];
        let has_room = values.len() < VALUES;
        match values.get_mut(&value) {
            Some(known) => *known += count,
            None if has_room => _ = values.insert(value, count),
            None => {}
        }
    }
}

impl Collect for EmptyCollector {
    type Stop = Infallible;

    fn want(&mut self, class: &Arc<EventClass>) -> Option<Wanted> {
        self.roster.want(class)
    }

    fn events(&mut self, events: &Events<'_>) -> ControlFlow<Infallible> {
        let Some(plan) = self.roster.count(events).cloned() else { return ControlFlow::Continue(()) };
        for event in events.iter() {
            let conditions = plan.conditions();
            let failing = conditions.iter().position(|condition| !condition.holds(&event));
            (0..=failing.unwrap_or(conditions.len())).for_each(|place| self.passed[place] += 1);
            if let Some(place) = failing {
                let mut value = Vec::new();
                key::encode_within(&conditions[place].value(&event), &mut value, VALUE_LENGTH);
                self.fail(place, value, 1);
            }
        }
        ControlFlow::Continue(())
    }

    fn split(&self) -> Self {
        EmptyCollector::new(self.roster.emptied())
    }

    fn absorb(&mut self, other: Self) {
        self.roster.absorb(other.roster);
        self.passed.iter_mut().zip(other.passed).for_each(|(mine, theirs)| *mine += theirs);
        for (place, values) in other.failed.into_iter().enumerate() {
            values.into_iter().for_each(|(value, count)| self.fail(place, value, count));
        }
    }
}
