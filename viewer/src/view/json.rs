//! Findings as JSON. The forms are documented in the crate's README and are stable.

use serde_json::{Map, Number, Value, json};

use super::reason;
use crate::analysis::group::Group;
use crate::analysis::heat::Heat;
use crate::analysis::histogram::Quantile;
use crate::analysis::info::{Info, Process};
use crate::analysis::key::Datum;
use crate::analysis::outliers::Outliers;
use crate::analysis::slow::Slow;
use crate::analysis::top::Top;
use crate::analysis::{Kind, Record, Rule};
use ctf_reader::Report;

/// The JSON of `top`.
pub fn top(top: &Top, limit: usize) -> Value {
    let groups = top.groups.iter().take(limit).map(|group| group_figures(group, &top.report));
    let mut json = json!({ "trace": trace(&top.report), "groups": groups.collect::<Value>() });
    if let Some(folded) = &top.folded {
        json["folded"] = json!({
            "count": folded.count,
            "implausible": folded.implausible,
            "total_us": microseconds(folded.total_ns),
            "max_us": microseconds(folded.max_ns),
        });
    }
    json
}

/// The JSON of `slow`.
pub fn slow(slow: &Slow) -> Value {
    let events = slow.events.iter().map(|record| {
        let mut json = event(record);
        json.insert("reason".into(), Value::Null);
        Value::Object(json)
    });
    json!({
        "trace": trace(&slow.report),
        "timed": slow.timed,
        "implausible": slow.implausible,
        "events": events.collect::<Value>(),
    })
}

/// The JSON of `outliers`.
pub fn outliers(outliers: &Outliers, rule: &Rule) -> Value {
    let events = outliers.events.iter().map(|outlier| {
        let mut json = event(&outlier.record);
        json.insert("reason".into(), reason::reason(outlier).into());
        json.insert("rule".into(), reason::rule(outlier.judged.basis).into());
        json.insert("limit_us".into(), microseconds(outlier.record.kind.ns(outlier.judged.limit)));
        Value::Object(json)
    });
    let unjudged = outliers.unjudged.iter().map(|(kind, durations)| {
        let max = durations.max().map(|ticks| microseconds(kind.ns(ticks)));
        json!({ "event": kind.event, "count": durations.count(), "max_us": max })
    });
    json!({
        "trace": trace(&outliers.report),
        "probability": rule.probability,
        "least_excess_us": microseconds(rule.least_excess_ns.into()),
        "judged": outliers.judged,
        "found": outliers.found,
        "implausible": outliers.implausible,
        "unjudged": unjudged.collect::<Value>(),
        "events": events.collect::<Value>(),
    })
}

/// The JSON of `hist`.
pub fn hist(top: &Top, limit: usize) -> Value {
    let groups = top.groups.iter().take(limit).map(|group| {
        let buckets = group.figures.durations.buckets().into_iter().map(|bucket| {
            json!({
                "from_us": microseconds(group.kind.ns(bucket.low)),
                "to_us": microseconds(group.kind.ns(bucket.high) + group.kind.unit_ns()),
                "count": bucket.count,
            })
        });
        let buckets: Value = buckets.collect();
        let mut json = group_name(&group.kind, &group.key());
        json.insert("count".into(), group.figures.count().into());
        json.insert("implausible".into(), group.figures.implausible.into());
        json.insert("buckets".into(), buckets);
        Value::Object(json)
    });
    json!({ "trace": trace(&top.report), "groups": groups.collect::<Value>() })
}

/// The JSON of `hist --over-time`.
pub fn heat(heat: &Heat) -> Value {
    let groups = heat.groups().map(|(group, map)| {
        let rows = map.columns().iter().map(|rows| rows.iter().rposition(|&count| count > 0));
        let rows = rows.max().flatten().map_or(0, |last| last + 1);
        let from = (0..rows).map(|row| group.kind.ns(if row == 0 { 0 } else { 1 << (row - 1) }));
        let counts = map.columns().iter().map(|column| json!(column[..rows]));
        let mut json = group_name(&group.kind, &group.key());
        json.insert("rows_from_us".into(), from.map(microseconds).collect());
        json.insert("counts".into(), counts.collect());
        Value::Object(json)
    });
    json!({
        "trace": trace(&heat.top.report),
        "columns": { "begin_ns": heat.columns.begin, "width_ns": heat.columns.width, "count": heat.columns.count },
        "groups": groups.collect::<Value>(),
    })
}

/// The JSON of `info`.
pub fn info(info: &Info) -> Value {
    let processes = info.processes.as_ref().map(|processes| {
        let one = |process: &Process| {
            let value = |datum: &Option<Datum>| datum.as_ref().map_or(Value::Null, datum_value);
            json!({ "pid": value(&process.pid), "name": value(&process.name), "events": process.events })
        };
        processes.iter().map(one).collect::<Value>()
    });
    let traces = info.report.traces.iter().map(|trace| {
        let folders = trace.folders.iter().map(|folder| folder.to_string_lossy());
        let environment = trace.environment.iter().map(|(name, value)| (name.clone(), json!(value)));
        json!({
            "folders": folders.collect::<Value>(),
            "environment": environment.collect::<Map<_, _>>(),
            "streams": trace.streams,
            "packets": trace.packets,
        })
    });
    json!({
        "trace": trace(&info.report),
        "events_by_name": info.events_by_name,
        "processes": processes,
        "traces": traces.collect::<Value>(),
    })
}

fn trace(report: &Report) -> Value {
    let damage = report.damage.iter().map(|damage| {
        json!({ "path": damage.path.to_string_lossy(), "offset": damage.offset, "reason": damage.reason })
    });
    json!({
        "events": report.events,
        "discarded_events": report.discarded_events,
        "lost_packets": report.lost_packets,
        "begin_ns": report.span.as_ref().map(|span| *span.start()),
        "end_ns": report.span.as_ref().map(|span| *span.end()),
        "damage": damage.collect::<Value>(),
    })
}

fn group_figures(group: &Group, report: &Report) -> Value {
    let figures = &group.figures;
    let percentile = |quantile| group.percentile_ns(quantile).map(microseconds);
    let timed = figures.durations.count() > 0;
    let span_ns = report.span.as_ref().map_or(0, |span| span.end().abs_diff(*span.start()));
    let per_ns = |amount: f64| (span_ns > 0).then(|| amount / span_ns as f64);
    let mut json = group_name(&group.kind, &group.key());
    let more = json!({
        "count": figures.count(),
        "implausible": figures.implausible,
        "total_us": timed.then(|| microseconds(group.total_ns())),
        "mean_us": group.mean_ns().map(|mean| mean / 1000.0),
        "p50_us": percentile(Quantile::P50),
        "p90_us": percentile(Quantile::P90),
        "p99_us": percentile(Quantile::P99),
        "p999_us": percentile(Quantile::P999),
        "min_us": figures.durations.min().map(|ticks| microseconds(group.kind.ns(ticks))),
        "max_us": group.max_ns().map(microseconds),
        "rate_per_s": per_ns(figures.count() as f64 * 1e9),
        "wall_share": if timed { per_ns(group.total_ns() as f64) } else { None },
        "is_sum": group.kind.is_sum,
        "unit_is_guess": group.kind.unit_is_guess,
    });
    if let Value::Object(more) = more {
        json.extend(more);
    }
    Value::Object(json)
}

fn group_name(kind: &Kind, key: &[Datum]) -> Map<String, Value> {
    let key = kind.keys.iter().cloned().zip(key.iter().map(datum_value));
    let mut json = Map::new();
    json.insert("event".into(), kind.event.clone().into());
    json.insert("key".into(), key.collect::<Map<_, _>>().into());
    json
}

fn event(record: &Record) -> Map<String, Value> {
    let fields = record.fields().map(|(field, value)| (field.name.clone(), datum_value(&value)));
    let mut json = Map::new();
    json.insert("timestamp_ns".into(), record.timestamp.into());
    json.insert("event".into(), record.kind.event.clone().into());
    json.insert("duration_us".into(), microseconds(record.duration_ns));
    json.insert("fields".into(), fields.collect::<Map<_, _>>().into());
    json
}

/// A number of microseconds, whole where it can be.
fn microseconds(nanoseconds: u128) -> Value {
    match u64::try_from(nanoseconds / 1000) {
        Ok(whole) if nanoseconds.is_multiple_of(1000) => whole.into(),
        _ => (nanoseconds as f64 / 1000.0).into(),
    }
}

/// A value; bytes that are not UTF-8 are replaced, and numbers that JSON does not know are texts.
fn datum_value(datum: &Datum) -> Value {
    match datum {
        Datum::Integer(number) => match (u64::try_from(*number), i64::try_from(*number)) {
            (Ok(number), _) => number.into(),
            (_, Ok(number)) => number.into(),
            _ => number.to_string().into(),
        },
        Datum::Float(number) => {
            Number::from_f64(*number).map_or_else(|| number.to_string().into(), Value::Number)
        }
        Datum::Bool(truth) => (*truth).into(),
        Datum::Text(text) => String::from_utf8_lossy(text).into(),
        Datum::List(elements) => elements.iter().map(datum_value).collect(),
        Datum::Struct(members) => {
            let members = members.iter().map(|(name, member)| (name.clone(), datum_value(member)));
            members.collect::<Map<_, _>>().into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn microseconds_are_whole_where_they_can_be() {
        assert_eq!(microseconds(164_374_000).to_string(), "164374");
        assert_eq!(microseconds(1_500).to_string(), "1.5");
        assert_eq!(microseconds(u128::from(u64::MAX) * 1_000_000).as_f64(), Some(1.8446744073709552e22));
    }

    #[test]
    fn what_json_does_not_know_is_a_text() {
        assert_eq!(datum_value(&Datum::Float(f64::NAN)), json!("NaN"));
        assert_eq!(datum_value(&Datum::Text(b"a\xff".to_vec())), json!("a\u{fffd}"));
        assert_eq!(datum_value(&Datum::Integer(-1)), json!(-1));
        assert_eq!(datum_value(&Datum::Integer(u64::MAX.into())), json!(u64::MAX));
    }
}
