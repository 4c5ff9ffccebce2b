//! How much of an incident each cause explains, so that incidents of a part of the time can be summed up by cause.

use crate::analysis::finding::{LinkFinding, Ns};
use crate::analysis::incidents::{CauseFinding, Incident, IncidentKind, Incidents};
use crate::datum::Pairs;

/// What a cause explains of an incident.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charge {
    /// The place of the cause in [`Incidents::causes`].
    pub cause: usize,
    /// How much.
    pub explained: Ns,
}

/// The causes of an incident; together they are charged as the totals by cause are.
pub fn charges(incident: &Incident, found: &Incidents) -> Vec<Charge> {
    let mut charges = Vec::new();
    let mut charge = |place: Option<usize>, explained: u128| {
        charges
            .extend(place.filter(|_| explained > 0).map(|cause| Charge { cause, explained: Ns(explained) }));
    };
    let of_event = |event: &str, key: &Pairs, detail: Option<&str>| {
        found.causes.iter().position(|cause| {
            cause.event.as_deref() == Some(event) && cause.key == *key && cause.detail.as_deref() == detail
        })
    };
    let of_link = |link: &LinkFinding| of_event(&link.event, &link.key, None);
    let of_kind = |kind: IncidentKind| {
        let is_of = |cause: &CauseFinding| cause.event.is_none() && cause.kind == Some(kind);
        found.causes.iter().position(is_of)
    };
    let is_turn = incident.kind == IncidentKind::Turn;
    let (Some(cause), Some(around)) = (&incident.cause, incident.chain.get(usize::from(is_turn))) else {
        let kind = match incident.kind {
            IncidentKind::Interval => IncidentKind::Turn,
            kind => kind,
        };
        charge(of_kind(kind), incident.held.0);
        return charges;
    };
    let detail = incident.chain.last().filter(|last| last.event != cause.event);
    let detail = detail.map(|detail| &*detail.event);
    charge(of_event(&cause.event, &cause.key, detail), cause.spent.0);
    charge(of_link(around), around.spent.0.saturating_sub(cause.spent.0));
    if is_turn {
        let is_other = |part: &&LinkFinding| part.event != around.event || part.key != around.key;
        incident.explained_by.iter().filter(is_other).for_each(|part| charge(of_link(part), part.spent.0));
        charge(of_kind(IncidentKind::Turn), incident.unexplained.0);
    }
    charges
}
