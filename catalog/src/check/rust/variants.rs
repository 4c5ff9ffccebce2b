//! Labels become variants of a Rust enum.

use std::collections::HashMap;

use crate::check::model::is_label;
use crate::check::parts::{self, Part};
use crate::error::{Authority, Report};
use crate::model::{Catalog, Enumeration, Label};
use crate::place::Step;

pub(super) fn check(catalog: &Catalog, report: &mut Report) {
    for enumeration in parts::enumerations(catalog) {
        check_labels(&enumeration, report);
    }
}

fn check_labels(enumeration: &Part<'_, Enumeration>, report: &mut Report) {
    let mut by_rust_name: HashMap<String, &Label> = HashMap::new();
    for (index, label) in enumeration.part.labels.iter().enumerate() {
        // What the model refuses has no Rust name worth comparing.
        if !is_label(&label.name) {
            continue;
        }
        let wrong = wrong_variant(label).or_else(|| {
            let other = by_rust_name.insert(label.rust_name(), label)?;
            // Two labels of the same name have been refused for that.
            (other.name != label.name).then(|| {
                let rust_name = label.rust_name();
                format!("in Rust this is `{rust_name}`, as is `{}`; rename one of the two", other.name)
            })
        });
        if let Some(wrong) = wrong {
            let place = enumeration.place.then(Step::Label(index, label.name.clone()));
            report.add(Authority::Rust, place.value("name"), wrong);
        }
    }
}

/// Why Rust refuses the variant of a label.
fn wrong_variant(label: &Label) -> Option<String> {
    if label.name.starts_with(|first: char| !first.is_ascii_alphabetic()) {
        return Some("a label begins with a letter, because it names a Rust variant".to_owned());
    }
    match label.rust_name().as_str() {
        "Self" => Some("`Self` is reserved by Rust; choose another name".to_owned()),
        Label::UNLABELLED => {
            Some("in Rust this variant is for values without a label; choose another name".to_owned())
        }
        _ => None,
    }
}
