//! Events that changed, went or got another name.

use lttng_catalog::{Catalog, Event, EventName};

use super::changes::{Changes, Notices};
use super::fields;

/// Reports an event that the new catalog does not have under its name: it was renamed or removed.
pub(super) fn removed(provider: &str, event: &Event, catalog: &Catalog, changes: &mut Changes) {
    let name = EventName { provider: provider.to_owned(), event: event.name.clone() };
    let place = name.to_string();
    match catalog.events().find(|(_, newer)| newer.meaning.formerly.contains(&name)) {
        Some((owner, newer)) => {
            // Readers know it from `formerly`; callers do not.
            changes.add(&place, format!("renamed to `{}:{}`", owner.name, newer.name), Notices::Caller);
            compare(&place, event, newer, changes);
        }
        None => changes.add(&place, "the event is gone", Notices::Both),
    }
}

/// Reports what differs between two versions of an event.
pub(super) fn compare(place: &str, old: &Event, new: &Event, changes: &mut Changes) {
    changes.documentation(place, &old.doc, &new.doc);
    fields::compare(place, &old.fields, &new.fields, changes);
    let (was, is) = (&old.meaning, &new.meaning);
    let text = |name: &Option<String>| name.clone().unwrap_or_default();
    // Functions that measure the duration do not take it as an argument.
    changes.changed(place, "duration", &text(&was.duration), &text(&is.duration), Notices::Both);
    changes.changed(place, "measure", was.measure.name(), is.measure.name(), Notices::Reader);
    changes.changed(place, "clock", was.clock.name(), is.clock.name(), Notices::Reader);
    changes.changed(place, "group-by", &was.group_by.join(", "), &is.group_by.join(", "), Notices::Reader);
    changes.changed(place, "client", &text(&was.client), &text(&is.client), Notices::Reader);
    let event = |name: &Option<EventName>| name.as_ref().map(EventName::to_string).unwrap_or_default();
    changes.changed(place, "repeats", &event(&was.repeats), &event(&is.repeats), Notices::Reader);
    changes.changed(place, "explains", &names(&was.explains), &names(&is.explains), Notices::Reader);
    changes.changed(place, "started-by", &event(&was.started_by), &event(&is.started_by), Notices::Reader);
    changes.changed(place, "advice", &text(&was.advice), &text(&is.advice), Notices::Nobody);
    let advice_for = |advice: &[(String, String)]| {
        advice.iter().map(|(key, advice)| format!("{key}: {advice}")).collect::<Vec<_>>().join(" ")
    };
    let [old_advice, new_advice] = [&was.advice_for, &is.advice_for].map(|advice| advice_for(advice));
    changes.changed(place, "advice-for", &old_advice, &new_advice, Notices::Nobody);
    changes.changed(place, "formerly", &names(&was.formerly), &names(&is.formerly), Notices::Nobody);
    // Sessions select events by it, so one that was recorded may no longer be.
    changes.changed(place, "log-level", old.log_level.name(), new.log_level.name(), Notices::Reader);
    if old.entry != new.entry {
        let (change, notices) = if new.entry {
            ("a USDT probe at the start, too", Notices::Nobody)
        } else {
            ("no USDT probe at the start any more", Notices::Reader)
        };
        changes.add(place, change, notices);
    }
    let pattern = |event: &Event| event.tracing.as_ref().map(ToString::to_string).unwrap_or_default();
    changes.changed(place, "tracing", &pattern(old), &pattern(new), Notices::Caller);
    changes.changed(place, "model-uri", &text(&old.model_uri), &text(&new.model_uri), Notices::Nobody);
}

fn names(names: &[EventName]) -> String {
    names.iter().map(EventName::to_string).collect::<Vec<_>>().join(", ")
}
