//! Rules for what one event says about others.

use std::collections::{HashMap, HashSet};

use crate::check::parts::{self, Part};
use crate::error::Report;
use crate::model::{Catalog, Event, EventName};
use crate::place::{Place, Step};
use crate::suggest::did_you_mean;
use crate::vocabulary::Measure;

pub(super) fn check(catalog: &Catalog, report: &mut Report) {
    let names: Vec<String> =
        catalog.events().map(|(provider, event)| format!("{}:{}", provider.name, event.name)).collect();
    let checker = Checker { catalog, names };
    let mut former_owners = HashMap::new();
    for Part { place, provider, part: event } in parts::events(catalog) {
        let name = EventName { provider: provider.name.clone(), event: event.name.clone() };
        checker.check_repeats(&name, event, &place, report);
        checker.check_explains(&name, event, &place, report);
        checker.check_started_by(&name, event, &place, report);
        checker.check_formerly(&name, event, &mut former_owners, &place, report);
    }
}

struct Checker<'c> {
    catalog: &'c Catalog,
    /// The full names of all events, to suggest one from.
    names: Vec<String>,
}

impl Checker<'_> {
    fn event(&self, name: &EventName) -> Option<&Event> {
        self.catalog.event(&name.provider, &name.event)
    }

    /// The event of this name; its absence is reported.
    fn find(&self, name: &EventName, place: &Place, report: &mut Report) -> Option<&Event> {
        let found = self.event(name);
        if found.is_none() {
            let known = self.names.iter().map(String::as_str);
            let suggestion = did_you_mean(&name.to_string(), known);
            report.model(place.clone(), format!("unknown event `{name}`{suggestion}"));
        }
        found
    }

    /// Whether an event has no duration. One of an unknown class, which is an error, may have.
    fn lacks_duration(&self, name: &EventName, event: &Event) -> bool {
        let class_of = |class: &String| self.catalog.provider(&name.provider)?.class(class);
        !event.meaning.is_timed() && event.class.as_ref().is_none_or(|class| class_of(class).is_some())
    }

    fn check_repeats(&self, name: &EventName, event: &Event, place: &Place, report: &mut Report) {
        let Some(repeated) = &event.meaning.repeats else {
            return;
        };
        let place = place.value("repeats");
        let Some(target) = self.find(repeated, &place, report) else {
            return;
        };
        if self.lacks_duration(name, event) {
            report.model(place, "this event has no `duration`, so it cannot repeat another's");
        } else if self.lacks_duration(repeated, target) {
            report.model(place, format!("`{repeated}` has no `duration` to repeat"));
        } else if let Some(cycle) = self.cycle(name) {
            report
                .model(place, format!("the repeats form a cycle: {cycle}; one event has to be the original"));
        } else if let Some(original) = &target.meaning.repeats {
            report.model(place, format!("`{repeated}` only repeats `{original}`; name the original"));
        }
    }

    /// The path along `repeats` from an event back to itself, in words.
    fn cycle(&self, name: &EventName) -> Option<String> {
        let mut path = vec![name];
        let mut seen = HashSet::from([name]);
        loop {
            let next = self.event(path.last()?)?.meaning.repeats.as_ref()?;
            path.push(next);
            if next == name {
                let names: Vec<String> = path.iter().map(ToString::to_string).collect();
                return Some(names.join(" → "));
            }
            // A cycle further on is reported by the events that are in it.
            if !seen.insert(next) {
                return None;
            }
        }
    }

    fn check_explains(&self, name: &EventName, event: &Event, place: &Place, report: &mut Report) {
        let explained = &event.meaning.explains;
        let place = place.value("explains");
        if !explained.is_empty() && event.meaning.measure == Measure::Sum {
            report.model(
                place.clone(),
                "a sum has no position in time, so it overlaps nothing that it could explain",
            );
        }
        for (index, target_name) in explained.iter().enumerate() {
            let place = place.then(Step::Element(index));
            if target_name == name {
                report.model(place, "an event does not explain itself");
                continue;
            }
            if explained[..index].contains(target_name) {
                report.model(place, format!("duplicate event `{target_name}`"));
                continue;
            }
            let Some(target) = self.find(target_name, &place, report) else {
                continue;
            };
            let wrong = if self.lacks_duration(target_name, target) {
                "has no `duration`, so it cannot be slow"
            } else if target.meaning.measure == Measure::Sum {
                "is a sum and has no position in time, so nothing overlaps it"
            } else {
                continue;
            };
            report.model(place, format!("`{target_name}` {wrong}"));
        }
    }

    fn check_started_by(&self, name: &EventName, event: &Event, place: &Place, report: &mut Report) {
        let Some(start_name) = &event.meaning.started_by else {
            return;
        };
        let place = place.value("started-by");
        if start_name == name {
            return report.model(place, "an event does not start itself");
        }
        if event.meaning.duration.is_some() {
            let message =
                "an event with a `duration` already says when its interval began; remove `started-by`";
            return report.model(place, message);
        }
        let Some(start) = self.find(start_name, &place, report) else {
            return;
        };
        if start.meaning.is_timed() {
            report.model(place, format!("`{start_name}` ends an interval, so it cannot start another"));
        }
    }

    fn check_formerly(
        &self,
        name: &EventName,
        event: &Event,
        owners: &mut HashMap<EventName, EventName>,
        place: &Place,
        report: &mut Report,
    ) {
        for (index, former) in event.meaning.formerly.iter().enumerate() {
            let place = place.value("formerly").then(Step::Element(index));
            if self.event(former).is_some() {
                report.model(
                    place,
                    format!("`{former}` is the name of an event today; a former name is no longer in use"),
                );
            } else if let Some(owner) = owners.insert(former.clone(), name.clone()) {
                report.model(place,
                    format!("`{former}` is already a former name of `{owner}`; a reader could not tell which is meant"),
                );
            }
        }
    }
}
