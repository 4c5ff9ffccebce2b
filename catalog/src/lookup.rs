//! Finding parts of a catalog by their names.

use crate::model::{Catalog, Class, Enumeration, Event, Field, Label, Provider};

impl Catalog {
    /// The provider of this name.
    pub fn provider(&self, name: &str) -> Option<&Provider> {
        self.providers.iter().find(|provider| provider.name == name)
    }

    /// The event of this name.
    pub fn event(&self, provider: &str, event: &str) -> Option<&Event> {
        self.provider(provider)?.event(event)
    }

    /// Every event with its provider, in the order of the file.
    pub fn events(&self) -> impl Iterator<Item = (&Provider, &Event)> {
        self.providers.iter().flat_map(|provider| provider.events.iter().map(move |event| (provider, event)))
    }
}

impl Provider {
    /// The event of this name.
    pub fn event(&self, name: &str) -> Option<&Event> {
        self.events.iter().find(|event| event.name == name)
    }

    /// The class of this name.
    pub fn class(&self, name: &str) -> Option<&Class> {
        self.classes.iter().find(|class| class.name == name)
    }

    /// The enumeration of this name.
    pub fn enumeration(&self, name: &str) -> Option<&Enumeration> {
        self.enums.iter().find(|enumeration| enumeration.name == name)
    }
}

impl Enumeration {
    /// The label of a value.
    pub fn label(&self, value: i128) -> Option<&Label> {
        self.labels.iter().find(|label| label.values.contains(&value))
    }
}

impl Event {
    /// The field of this name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}
