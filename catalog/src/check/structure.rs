//! What the format guarantees of a catalog that was read: every part has a name, no two have the same one, and an event
//! has the fields of its class. A program can make or change a catalog so that this does not hold.

use std::collections::HashSet;

use super::parts::{self, Part};
use crate::error::Report;
use crate::model::Catalog;
use crate::place::{Place, Step};

pub(super) fn check(catalog: &Catalog, report: &mut Report) {
    let mut names = Names { taken: HashSet::new(), report };
    names.check("catalog", &catalog.name, Place::top());
    for (place, provider) in parts::providers(catalog) {
        names.check("provider", &provider.name, place);
    }
    for Part { place, provider, part } in parts::enumerations(catalog) {
        names.check_in(&provider.name, "enum", &part.name, &place);
        for (index, label) in part.labels.iter().enumerate().filter(|(_, label)| label.name.is_empty()) {
            names.check("label", "", place.then(Step::Label(index, label.name.clone())));
        }
        if part.labels.is_empty() {
            names.report.model(place, "the enum has no labels");
        }
    }
    for Part { place, provider, part } in parts::classes(catalog) {
        names.check_in(&provider.name, "class", &part.name, &place);
    }
    for Part { place, provider, part } in parts::events(catalog) {
        names.check_in(&provider.name, "event", &part.name, &place);
        let class = part.class.as_ref().and_then(|class| provider.class(class));
        if let Some(class) = class.filter(|class| class.fields != part.fields) {
            let message = format!("the fields are not those of the class `{}`", class.name);
            names.report.model(place, message);
        }
    }
    for list in parts::field_lists(catalog) {
        for (place, field) in parts::fields(&list).filter(|(_, f)| f.name.is_empty() || f.argument.is_empty())
        {
            names.check("field", "", place.value(&field.name));
        }
    }
}

struct Names<'r> {
    taken: HashSet<(String, &'static str, String)>,
    report: &'r mut Report,
}

impl Names<'_> {
    fn check(&mut self, what: &'static str, name: &str, place: Place) {
        self.check_in("", what, name, &place);
    }

    fn check_in(&mut self, provider: &str, what: &'static str, name: &str, place: &Place) {
        let message = if name.is_empty() {
            format!("the name of the {what} is empty")
        } else if !self.taken.insert((provider.to_owned(), what, name.to_owned())) {
            format!("duplicate {what} `{name}`")
        } else {
            return;
        };
        self.report.model(place.clone(), message);
    }
}
