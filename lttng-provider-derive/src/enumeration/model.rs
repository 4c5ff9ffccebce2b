//! An enum matched with that of the catalog.

use lttng_catalog::{Enumeration, Label, did_you_mean_one_of};
use proc_macro2::Span;
use syn::{Expr, ExprLit, ExprUnary, Generics, Ident, Lit, UnOp};

use super::parse::{Input, Variant};
use crate::catalogs::Catalogs;
use crate::errors::Errors;
use crate::target::Target;

/// An enum that agrees with the catalog, but for the numbers and types that only the compiler knows.
pub(super) struct Model<'m> {
    pub(super) name: &'m Ident,
    pub(super) generics: &'m Generics,
    pub(super) target: &'m Target,
    pub(super) container: Ident,
    pub(super) variants: Vec<(&'m Variant<'m>, Meaning<'m>)>,
    pub(super) catalogs: &'m Catalogs,
}

/// What a variant stands for.
pub(super) enum Meaning<'m> {
    /// A label with one value.
    Value(&'m Label),
    /// A label with a range of values: the variant carries which.
    Range(&'m Label),
    /// Any value, which the variant carries.
    Other,
}

impl<'m> Model<'m> {
    pub(super) fn new(input: &'m Input<'m>, catalogs: &'m Catalogs) -> syn::Result<Self> {
        let target = &input.attribute.target;
        let enumeration = catalogs.enumeration(target)?;
        let mut matching = Matching { enumeration, errors: Errors::default() };
        let mut variants: Vec<(&Variant<'_>, Meaning<'_>)> = Vec::new();
        for variant in &input.variants {
            let Some(meaning) = matching.meaning(variant) else { continue };
            let same = |(_, other): &(&Variant<'_>, Meaning<'_>)| other.is_same(&meaning);
            if variants.iter().any(same) {
                let message =
                    format!("another variant already stands for {}: remove one", meaning.description());
                matching.report(variant, message);
            }
            variants.push((variant, meaning));
        }
        matching.check_complete(input.name, &variants);
        matching.check_numbers(&variants);
        matching.errors.finish()?;
        let container = Ident::new(&enumeration.container.rust_name(), Span::call_site());
        Ok(Model { name: input.name, generics: input.generics, target, container, variants, catalogs })
    }
}

impl Meaning<'_> {
    fn is_same(&self, other: &Meaning<'_>) -> bool {
        self.label().map(|label| &label.name) == other.label().map(|label| &label.name)
    }

    fn label(&self) -> Option<&Label> {
        match self {
            Meaning::Value(label) | Meaning::Range(label) => Some(label),
            Meaning::Other => None,
        }
    }

    fn description(&self) -> String {
        match self.label() {
            Some(label) => format!("the label `{}`", label.name),
            None => "all values without a label".to_owned(),
        }
    }
}

/// The search for the label of each variant.
struct Matching<'m> {
    enumeration: &'m Enumeration,
    errors: Errors,
}

impl<'m> Matching<'m> {
    fn report(&mut self, variant: &Variant<'_>, message: String) {
        let span = variant.label.as_ref().map_or_else(|| variant.name.span(), |label| label.span());
        self.errors.add(syn::Error::new(span, message));
    }

    /// What a variant stands for; reports a variant without a meaning or with the wrong shape.
    fn meaning(&mut self, variant: &Variant<'_>) -> Option<Meaning<'m>> {
        let container = self.enumeration.container.rust_name();
        if variant.other {
            if variant.carries.is_none() {
                let name = variant.name;
                self.report(
                    variant,
                    format!(
                        "the variant for values without a label carries the value: write `{name}({container})`"
                    ),
                );
                return None;
            }
            return Some(Meaning::Other);
        }
        let Some(label) = self.label(variant) else {
            self.report(variant, self.unknown(variant));
            return None;
        };
        let (first, last) = label.values.clone().into_inner();
        match (first == last, variant.carries) {
            (true, None) => Some(Meaning::Value(label)),
            (false, Some(_)) => Some(Meaning::Range(label)),
            (true, Some(_)) => {
                self.report(
                    variant,
                    format!(
                        "the label `{}` is always {first} in the catalog: remove the variant's value",
                        label.name
                    ),
                );
                None
            }
            (false, None) => {
                let message = format!(
                    "the label `{}` is for {first} to {last} in the catalog: the variant carries which, so write \
                     `{}({container})`",
                    label.name, variant.name
                );
                self.report(variant, message);
                None
            }
        }
    }

    fn label(&self, variant: &Variant<'_>) -> Option<&'m Label> {
        self.enumeration.labels.iter().find(|label| match &variant.label {
            Some(name) => label.name == name.value(),
            None => *variant.name == label.rust_name(),
        })
    }

    fn unknown(&self, variant: &Variant<'_>) -> String {
        let labels = &self.enumeration.labels;
        let name = &self.enumeration.name;
        if let Some(wrong) = &variant.label {
            let wrong = wrong.value();
            let hint = did_you_mean_one_of(&wrong, labels.iter().map(|label| label.name.as_str()));
            return format!("the enum `{name}` has no label `{wrong}` in the catalog{hint}");
        }
        let names: Vec<String> = labels.iter().map(Label::rust_name).collect();
        let wrong = variant.name.to_string();
        let hint = did_you_mean_one_of(&wrong, names.iter().map(String::as_str));
        let other = match variant.carries {
            Some(_) => " (`#[event(other)]` marks the variant for all values without a label)",
            None => " (`#[event(label = \"…\")]` names the label of a variant with another name)",
        };
        format!("the enum `{name}` has no label for `{wrong}` in the catalog{hint}{other}")
    }

    /// Every label has a variant.
    fn check_complete(&mut self, name: &Ident, variants: &[(&Variant<'_>, Meaning<'_>)]) {
        let covered = |label: &Label| {
            variants.iter().any(|(_, meaning)| meaning.label().is_some_and(|other| other.name == label.name))
        };
        let missing: Vec<&Label> = self.enumeration.labels.iter().filter(|label| !covered(label)).collect();
        // A misnamed variant has been reported, and is most likely the one that is missing.
        if missing.is_empty() || !self.errors.is_empty() {
            return;
        }
        let missing: Vec<String> = missing
            .iter()
            .map(|label| format!("`{}` for the label `{}`", label.rust_name(), label.name))
            .collect();
        let message = format!(
            "the enum has no variant {} of the catalog's `{}`: add it",
            missing.join(", "),
            self.enumeration.name
        );
        self.errors.add(syn::Error::new(name.span(), message));
    }

    /// An enum that has numbers has the catalog's; those that are expressions are left to the compiler.
    fn check_numbers(&mut self, variants: &[(&Variant<'_>, Meaning<'_>)]) {
        if variants.iter().all(|(variant, _)| variant.number.is_none()) {
            return;
        }
        let mut next = Some(0);
        for (variant, meaning) in variants {
            let number = match variant.number {
                Some(expression) => literal(expression),
                None => next,
            };
            match (meaning, number) {
                (Meaning::Value(label), Some(number)) if number != *label.values.start() => {
                    let value = label.values.start();
                    let message = format!(
                        "the label `{}` is {value} in the catalog, but {number} here: remove the number",
                        label.name
                    );
                    let written = variant.number.map(syn::spanned::Spanned::span);
                    self.errors.add(syn::Error::new(written.unwrap_or_else(|| variant.name.span()), message));
                }
                _ => {}
            }
            next = number.map(|number| number + 1);
        }
    }
}

/// The value of an integer literal, which may have a minus before it.
pub(super) fn literal(expression: &Expr) -> Option<i128> {
    match expression {
        Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) => number.base10_parse().ok(),
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => literal(expr).map(|number| -number),
        _ => None,
    }
}
