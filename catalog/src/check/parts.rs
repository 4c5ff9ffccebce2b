//! The parts of a catalog, each with its place.

use crate::model::{Catalog, Class, Enumeration, Event, Field, Provider};
use crate::place::{Place, Step};

/// A part, where it is, and its provider.
pub(super) struct Part<'c, T: ?Sized> {
    pub(super) place: Place,
    pub(super) provider: &'c Provider,
    pub(super) part: &'c T,
}

fn provider_place(provider: &Provider) -> Place {
    Place::top().then(Step::Provider(provider.name.clone()))
}

pub(super) fn providers(catalog: &Catalog) -> impl Iterator<Item = (Place, &Provider)> {
    catalog.providers.iter().map(|provider| (provider_place(provider), provider))
}

pub(super) fn enumerations(catalog: &Catalog) -> impl Iterator<Item = Part<'_, Enumeration>> {
    providers(catalog).flat_map(|(place, provider)| {
        provider.enums.iter().map(move |part| {
            let place = place.then(Step::Enum(part.name.clone()));
            Part { place, provider, part }
        })
    })
}

pub(super) fn classes(catalog: &Catalog) -> impl Iterator<Item = Part<'_, Class>> {
    providers(catalog).flat_map(|(place, provider)| {
        provider.classes.iter().map(move |part| {
            let place = place.then(Step::Class(part.name.clone()));
            Part { place, provider, part }
        })
    })
}

pub(super) fn events(catalog: &Catalog) -> impl Iterator<Item = Part<'_, Event>> {
    catalog.events().map(|(provider, part)| {
        let place = provider_place(provider).then(Step::Event(part.name.clone()));
        Part { place, provider, part }
    })
}

/// The fields of each class, and of each event without a class.
pub(super) fn field_lists(catalog: &Catalog) -> impl Iterator<Item = Part<'_, [Field]>> {
    let of_classes = classes(catalog).map(|Part { place, provider, part }| {
        let part = &part.fields[..];
        Part { place, provider, part }
    });
    let own = events(catalog).filter(|event| event.part.class.is_none());
    of_classes.chain(own.map(|Part { place, provider, part }| {
        let part = &part.fields[..];
        Part { place, provider, part }
    }))
}

/// The fields of a list, each with its place.
pub(super) fn fields<'c>(list: &Part<'c, [Field]>) -> impl Iterator<Item = (Place, &'c Field)> {
    let place = list.place.clone();
    list.part.iter().enumerate().map(move |(index, field)| {
        let place = place.then(Step::Field(index, field.name.clone()));
        (place, field)
    })
}
