//! What a trace itself says of its events: a `model.emf.uri` such as `meaning:1;duration=took;unit=took:us;group=article`.
//!
//! `docs/meaning.md` defines it. What is not understood is skipped, because other writers may know more words.

use ctf_reader::{EventClass, FieldKind};

use super::{ClassMeaning, DurationField, NamedField, UNIT_BY_DEFAULT, is_number, payload_field};
use crate::unit::TimeUnit;

pub(super) fn meaning(class: &EventClass) -> ClassMeaning {
    let words = class.model_uri.as_deref().and_then(|uri| uri.strip_prefix("meaning:1;")).unwrap_or_default();
    let words = || words.split(';').filter_map(|word| word.split_once('='));
    let fields = |key| {
        let values = words().filter(move |(word, _)| *word == key).map(|(_, value)| value);
        values
            .filter_map(|name| Some(NamedField { name: name.to_owned(), index: payload_field(class, name)? }))
    };
    let unit_of = |name: &str| {
        let units =
            words().filter(|(word, _)| *word == "unit").filter_map(|(_, value)| value.split_once(':'));
        let (_, unit) = units.into_iter().find(|(field, _)| *field == name)?;
        TimeUnit::ALL.into_iter().find(|known| known.name() == unit)
    };
    let duration = fields("duration").find(|field| is_number(class, field.index)).map(|field| {
        let unit = unit_of(&field.name);
        DurationField { index: field.index, unit: unit.unwrap_or(UNIT_BY_DEFAULT), is_guess: unit.is_none() }
    });
    let integers = |field: &NamedField| class.fields[field.index].kind == FieldKind::Integer;
    ClassMeaning {
        is_sum: words().any(|word| word == ("measure", "sum")),
        duration,
        group_by: fields("group").collect(),
        client: fields("client").map(|field| field.index).next(),
        booleans: fields("bool").filter(integers).map(|field| field.index).collect(),
        ..ClassMeaning::default()
    }
}
