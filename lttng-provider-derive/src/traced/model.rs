//! A function matched with the event of the catalog.

use std::time::Duration;

use lttng_catalog::{Event, Provider, did_you_mean_one_of, identifier};
use proc_macro2::Span;
use quote::{ToTokens, quote};
use syn::ext::IdentExt;

use super::options::{EventOption, FieldOption, How, Options};
use super::parse::{Function, Parameter};
use crate::catalogs::Catalogs;
use crate::errors::Errors;
use crate::expression::Expression;
use crate::field::CatalogField;
use crate::target::Target;
use crate::words::has_word;

/// A function that agrees with the catalog, but for the types.
pub(super) struct Model<'m> {
    pub(super) function: &'m Function,
    /// The events that the measurement feeds; at least one.
    pub(super) events: Vec<Measured<'m>>,
    pub(super) slower_than: Duration,
    pub(super) polling: bool,
    pub(super) catalogs: &'m Catalogs,
}

/// An event that is recorded with the time that the function took.
pub(super) struct Measured<'m> {
    pub(super) target: &'m Target,
    /// The fields besides the duration, in order, and what fills them.
    pub(super) details: Vec<Detail<'m>>,
    /// Whether it is recorded, and when that is known.
    pub(super) when: Option<(&'m Expression, Known)>,
}

/// A field besides the duration.
pub(super) struct Detail<'m> {
    pub(super) field: CatalogField<'m>,
    pub(super) how: How,
    pub(super) expression: Expression,
    pub(super) known: Known,
    /// Whether the expression is a reference to what outlives the call, which need not be copied.
    pub(super) outlives: bool,
}

/// When a value is known.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    /// At entry.
    Before,
    /// When the call ends: it has `cancelled` in it.
    AtEnd,
    /// When there is a result: it has `ret` in it.
    FromResult,
    /// When there is an error: it has `err` in it.
    FromError,
}

impl<'m> Model<'m> {
    pub(super) fn new(
        options: &'m Options,
        function: &'m Function,
        catalogs: &'m Catalogs,
    ) -> syn::Result<Self> {
        let mut errors = Errors::default();
        let is_polled = function.is_async() || function.is_stream();
        if let Some(word) = options.polling.as_ref().filter(|_| !is_polled) {
            let message = "only an `async fn` is polled: remove `polling`, or make the function `async`";
            errors.add(syn::Error::new(word.span(), message));
        }
        let track_caller =
            function.attributes.iter().find(|attribute| attribute.path().is_ident("track_caller"));
        let mut events = Vec::new();
        for option in &options.events {
            match Measured::new(option, function, catalogs) {
                Ok(event) => events.push(event),
                Err(error) => errors.add(error),
            }
        }
        errors.finish()?;
        let polling = options.polling.is_some();
        let model = Model { function, events, slower_than: options.slower_than, polling, catalogs };
        if let Some(attribute) = track_caller.filter(|_| function.is_stream()) {
            let message = "the body of a function that returns a stream runs in a closure, which does not know the caller: \
                           remove `#[track_caller]`";
            return Err(syn::Error::new_spanned(attribute, message));
        }
        if let Some(attribute) = track_caller.filter(|_| model.has_outcome() && !is_polled) {
            let message = "the body runs in a closure because fields use `ret` or `err`, and a closure does not know \
                           the caller: remove `#[track_caller]`, or these fields";
            return Err(syn::Error::new_spanned(attribute, message));
        }
        Ok(model)
    }

    /// Whether some value is known only at the end.
    pub(super) fn has_outcome(&self) -> bool {
        self.events.iter().any(|event| {
            let when = event.when.map(|(_, known)| known);
            event.details.iter().map(|detail| detail.known).chain(when).any(|known| known != Known::Before)
        })
    }
}

impl<'m> Measured<'m> {
    fn new(option: &'m EventOption, function: &Function, catalogs: &'m Catalogs) -> syn::Result<Self> {
        let target = &option.target;
        let (provider, event) = catalogs.event(target)?;
        let Some(duration) = duration_of(event) else {
            return Err(syn::Error::new(target.item.span(), without_duration(provider, event)));
        };
        let mut errors = Errors::default();
        let expected = event.fields.iter().filter(|field| field.name != duration);
        let expected: Vec<_> = expected
            .map(|field| CatalogField::new(provider, target, field))
            .filter(CatalogField::is_passed)
            .collect();
        let filling = Filling { full_name: format!("{}:{}", provider.name, event.name), duration, target };
        filling.check_names(&option.fields, &expected, &mut errors);
        let mut details = Vec::new();
        for field in expected {
            match filling.fill(field, &option.fields, function) {
                Ok(detail) => details.push(detail),
                Err(error) => errors.add(error),
            }
        }
        errors.finish()?;
        let when = option.when.as_ref().map(|condition| (condition, Known::of(condition, function)));
        if let Some((condition, known)) = when {
            known.check(function, condition.span())?;
        }
        Ok(Measured { target, details, when })
    }
}

impl Measured<'_> {
    /// Whether something is computed from how the call ends.
    pub(super) fn uses_end(&self) -> bool {
        let when = self.when.map(|(_, known)| known);
        self.details.iter().map(|detail| detail.known).chain(when).any(|known| known == Known::AtEnd)
    }
}

impl Known {
    /// Refuses what needs the result of a stream.
    fn check(self, function: &Function, at: Span) -> syn::Result<()> {
        if function.is_stream() && matches!(self, Known::FromResult | Known::FromError) {
            let message = "a stream has no result: compute this from the parameters, or from `cancelled`";
            return Err(syn::Error::new(at, message));
        }
        Ok(())
    }

    /// `ret` and `err` are the function's outcome, unless it has a parameter of that name.
    fn of(expression: &Expression, function: &Function) -> Known {
        let tokens = expression.to_token_stream();
        let has = |name: &str| function.parameter(name).is_none() && has_word(tokens.clone(), name);
        match () {
            () if has("err") => Known::FromError,
            () if has("ret") => Known::FromResult,
            () if (function.is_async() || function.is_stream()) && has("cancelled") => Known::AtEnd,
            () => Known::Before,
        }
    }
}

/// The name of the field that is the duration, in a unit of time.
fn duration_of(event: &Event) -> Option<&str> {
    let name = event.meaning.duration.as_deref()?;
    event.field(name)?.unit?.nanoseconds().map(|_| name)
}

fn without_duration(provider: &Provider, event: &Event) -> String {
    let others: Vec<String> = provider
        .events
        .iter()
        .filter(|event| duration_of(event).is_some())
        .map(|event| format!("`{}`", event.name))
        .collect();
    let others = if others.is_empty() { "none".to_owned() } else { others.join(", ") };
    format!(
        "`{}:{}` has no duration in the catalog, so it cannot be measured; of the provider's events these \
         have one: {others}",
        provider.name, event.name
    )
}

/// The search for what fills each field.
struct Filling<'m> {
    full_name: String,
    duration: &'m str,
    target: &'m Target,
}

impl Filling<'_> {
    /// Every name in `fields(…)` is one of the catalog's, and occurs once.
    fn check_names(&self, options: &[FieldOption], expected: &[CatalogField<'_>], errors: &mut Errors) {
        let full_name = &self.full_name;
        for (index, option) in options.iter().enumerate() {
            let name = option.name.unraw().to_string();
            let message = if name == self.duration {
                format!("the duration of `{full_name}` is measured: remove it")
            } else if !expected.iter().any(|field| field.field.argument == name) {
                let names = expected.iter().map(|field| field.field.argument.as_str());
                let hint = did_you_mean_one_of(&name, names);
                format!("`{full_name}` has no field `{name}` besides the duration in the catalog{hint}")
            } else if options[..index].iter().any(|before| before.name == option.name) {
                format!("duplicate value for `{name}`: remove one")
            } else {
                continue;
            };
            errors.add(syn::Error::new(option.name.span(), message));
        }
    }

    /// What fills a field: what `fields(…)` says, or the parameter of its name.
    fn fill<'d>(
        &self,
        field: CatalogField<'d>,
        options: &[FieldOption],
        function: &Function,
    ) -> syn::Result<Detail<'d>> {
        let name = identifier(&field.field.argument);
        if let Some(option) = options.iter().find(|option| option.name == name) {
            if option.how != How::Plain && !field.is_text() {
                let message = format!(
                    "`%` and `?` make text, but the catalog has {}: remove the sign",
                    field.description()
                );
                return Err(syn::Error::new(option.name.span(), message));
            }
            let known = Known::of(&option.expression, function);
            known.check(function, option.name.span())?;
            if known == Known::FromError && (field.is_enumeration() || field.is_array()) {
                let message = format!(
                    "the catalog has {}, for which a call that succeeds has no value: compute it from `ret`",
                    field.description()
                );
                return Err(syn::Error::new(option.name.span(), message));
            }
            let outlives = option.how == How::Plain && option.expression.is_text();
            let (how, expression) = (option.how, option.expression.clone());
            return Ok(Detail { field, how, expression, known, outlives });
        }
        if let Some(parameter) = function.parameter(&name) {
            let Parameter { name, is_reference } = parameter;
            // A stream or a future that is returned may outlive what the function was called with.
            let outlives = is_reference && !function.is_stream() && function.future_block().is_none();
            let expression = quote!(#name).into();
            return Ok(Detail { field, how: How::Plain, expression, known: Known::Before, outlives });
        }
        let message = format!(
            "`{}` has {} in the catalog, but the function has no parameter of that name: add `fields({name} = …)`",
            self.full_name,
            field.description(),
        );
        Err(syn::Error::new(self.target.item.span(), message))
    }
}
