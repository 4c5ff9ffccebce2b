//! A struct matched with the event of the catalog.

use lttng_catalog::{did_you_mean_one_of, nearest};
use syn::ext::IdentExt;
use syn::{Generics, Ident};

use super::parse::{How, Input, StructField};
use crate::catalogs::Catalogs;
use crate::errors::Errors;
use crate::field::CatalogField;
use crate::target::Target;

/// A struct that agrees with the catalog, but for the types.
pub(super) struct Model<'m> {
    pub(super) name: &'m Ident,
    pub(super) generics: &'m Generics,
    pub(super) event: &'m Target,
    /// `shop:sold`
    pub(super) full_name: String,
    /// For each field of the event, in order, the struct's.
    pub(super) fields: Vec<(CatalogField<'m>, &'m StructField<'m>)>,
    pub(super) catalogs: &'m Catalogs,
}

impl<'m> Model<'m> {
    pub(super) fn new(input: &'m Input<'m>, catalogs: &'m Catalogs) -> syn::Result<Self> {
        let target = &input.attribute.target;
        let (provider, event) = catalogs.event(target)?;
        let full_name = format!("{}:{}", provider.name, event.name);
        let expected: Vec<_> = event
            .fields
            .iter()
            .map(|field| CatalogField::new(provider, target, field))
            .filter(CatalogField::is_passed)
            .collect();
        let mut matching = Matching { full_name: &full_name, expected: &expected, errors: Errors::default() };
        let found = matching.find(&input.fields);
        matching.check_complete(input, &found);
        matching.errors.finish()?;
        let fields = expected.into_iter().zip(found.into_iter().flatten()).collect();
        Ok(Model { name: input.name, generics: input.generics, event: target, full_name, fields, catalogs })
    }
}

/// The search for the struct's field of each field of the catalog.
struct Matching<'m> {
    full_name: &'m str,
    expected: &'m [CatalogField<'m>],
    errors: Errors,
}

impl Matching<'_> {
    /// The struct's field for each that the catalog has.
    fn find<'f>(&mut self, fields: &'f [StructField<'f>]) -> Vec<Option<&'f StructField<'f>>> {
        let mut found: Vec<Option<&StructField<'_>>> = self.expected.iter().map(|_| None).collect();
        for field in fields.iter().filter(|field| !field.skip) {
            let wanted = wanted_name(field);
            match self.expected.iter().position(|expected| expected.field.argument == wanted) {
                None => self.report(field, self.unknown(&wanted)),
                Some(index) if found[index].is_some() => {
                    self.report(
                        field,
                        format!(
                            "another field of the struct is already recorded as `{wanted}`: remove one, or give it \
                             `#[event(skip)]`"
                        ),
                    );
                }
                Some(index) => {
                    match &field.how {
                        How::Display(option) if !self.expected[index].is_text() => {
                            let description = self.expected[index].description();
                            let message = format!(
                                "`display` makes text, but the catalog has {description}: remove `display`"
                            );
                            self.errors.add(syn::Error::new(option.span(), message));
                        }
                        _ => {}
                    }
                    found[index] = Some(field);
                }
            }
        }
        found
    }

    /// Every field of the catalog has been found.
    fn check_complete(&mut self, input: &Input<'_>, found: &[Option<&StructField<'_>>]) {
        for (expected, found) in self.expected.iter().zip(found) {
            if found.is_none() && !self.is_suggested(expected, &input.fields) {
                let Matching { full_name, errors, .. } = self;
                let description = expected.description();
                let message = format!("`{full_name}` has {description} in the catalog: add a field for it");
                errors.add(syn::Error::new(input.name.span(), message));
            }
        }
    }

    fn report(&mut self, field: &StructField<'_>, message: String) {
        let span = field.rename.as_ref().map_or_else(|| field.name.span(), |rename| rename.span());
        self.errors.add(syn::Error::new(span, message));
    }

    fn unknown(&self, wanted: &str) -> String {
        let full_name = self.full_name;
        if let Some(expected) = self.expected.iter().find(|expected| expected.field.name == wanted) {
            let argument = &expected.field.argument;
            return format!(
                "what `{full_name}` records as `{wanted}` is called `{argument}` in Rust: rename the field or add \
                 `#[event(rename = \"{argument}\")]`"
            );
        }
        let hint = did_you_mean_one_of(wanted, self.names());
        format!(
            "`{full_name}` has no field `{wanted}` in the catalog{hint} (`#[event(skip)]` leaves a field out)"
        )
    }

    fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.expected.iter().map(|expected| expected.field.argument.as_str())
    }

    /// Whether a missing field has been suggested for a misnamed one, so that one mistake is one error.
    fn is_suggested(&self, missing: &CatalogField<'_>, fields: &[StructField<'_>]) -> bool {
        fields.iter().filter(|field| !field.skip).any(|field| {
            let wanted = wanted_name(field);
            let known = self.names().any(|name| name == wanted);
            !known
                && (missing.field.name == wanted
                    || nearest(&wanted, self.names()) == Some(missing.field.argument.as_str()))
        })
    }
}

/// The name that is looked for in the catalog.
fn wanted_name(field: &StructField<'_>) -> String {
    match &field.rename {
        Some(rename) => rename.value(),
        None => field.name.unraw().to_string(),
    }
}
