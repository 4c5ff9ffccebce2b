//! What is kept of an event, and what is recorded of it when the function ends.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Ident, Path};

use super::model::{Detail, Known, Measured, Model};
use super::options::How;
use crate::expression::Expression;
use crate::field::CatalogField;

/// Records only if the time is not below the threshold.
pub(super) fn above_threshold(model: &Model<'_>, duration: &Ident, records: TokenStream) -> TokenStream {
    match u64::try_from(model.slower_than.as_nanos()) {
        Ok(0) | Err(_) => records,
        Ok(nanoseconds) => quote! {
            if #duration >= ::core::time::Duration::from_nanos(#nanoseconds) {
                #records
            }
        },
    }
}

/// Records the events, each if it was enabled at entry.
pub(super) fn records(model: &Model<'_>, entries: &[Ident], duration: &Ident, ended: Ended) -> TokenStream {
    let kept = mixed_site("kept");
    let events = model.events.iter().zip(entries).map(|(event, entry)| {
        let record = record_kept(event, &quote!(#kept), duration, ended);
        quote! {
            if let ::core::option::Option::Some(#kept) = #entry.kept() {
                #record
            }
        }
    });
    events.collect()
}

/// For each event a name for what is kept of it, its type, and what keeps it.
pub(super) fn entries<'m>(model: &'m Model<'_>) -> (Vec<Ident>, Vec<&'m Path>, Vec<TokenStream>) {
    let names = (0..model.events.len()).map(|index| mixed_site(&format!("entry_{index}")));
    let targets = model.events.iter().map(|event| &event.target.path);
    (names.collect(), targets.collect(), model.events.iter().map(keep).collect())
}

/// How a call has ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// With a result.
    WithResult,
    /// Its future was dropped before it had one.
    Cancelled,
    /// With the end of its stream, or before that: `cancelled` says which.
    Stream,
}

/// Records an event from what was kept at entry.
pub(super) fn record_kept(
    event: &Measured<'_>,
    kept_values: &TokenStream,
    duration: &Ident,
    ended: Ended,
) -> TokenStream {
    let target = &event.target.path;
    let kept = event.details.iter().filter(|detail| detail.known == Known::Before);
    let names = kept.map(|detail| detail.field.name());
    let values = event.details.iter().map(|detail| match detail.known {
        Known::Before => lend(detail),
        Known::AtEnd => outcome(detail),
        _ if ended == Ended::Cancelled => nothing(detail),
        _ => outcome(detail),
    });
    let details = match event.details.len() {
        0 => quote!(::lttng_provider::NoDetails {}),
        _ => quote!(#target::details(#(#values),*)),
    };
    let when = mixed_site("when");
    let (when_kept, condition) = match event.when {
        None => (None, quote!(true)),
        Some((_, Known::Before)) => (Some(&when), quote!(*#when)),
        Some((condition, Known::AtEnd)) => (None, quote!(#condition)),
        // Whether it would have been recorded is not known.
        Some(_) if ended == Ended::Cancelled => (None, quote!(false)),
        Some((condition, Known::FromResult)) => (None, quote!(#condition)),
        Some((condition, Known::FromError)) => {
            let err = Ident::new("err", Span::call_site());
            let ret = Ident::new("ret", Span::call_site());
            let error = error(&ret, condition);
            (None, quote!(match #error { Some(#err) => #condition, None => false }))
        }
    };
    let when_kept = when_kept.into_iter();
    let record = quote!(<#target as ::lttng_provider::DurationEvent>::record_duration(#duration, #details););
    let record = if event.when.is_some() { quote!(if #condition { #record }) } else { record };
    let cancelled = Ident::new("cancelled", Span::call_site());
    let is_cancelled = ended == Ended::Cancelled;
    let is_told = event.uses_end() && ended != Ended::Stream;
    let cancelled = is_told.then(|| quote!(let #cancelled = #is_cancelled;));
    quote! {
        #cancelled
        let (#(#names,)* #(#when_kept,)*) = #kept_values;
        #record
    }
}

/// A value from the function's outcome.
fn outcome(detail: &Detail<'_>) -> TokenStream {
    let is_text = detail.field.is_text();
    let value = value(detail);
    let value = match detail.known {
        Known::FromError => {
            let err = Ident::new("err", Span::call_site());
            let ret = Ident::new("ret", Span::call_site());
            let nothing = match is_text {
                true => quote!(::lttng_provider::OwnedText::new(::core::default::Default::default())),
                false => quote!(::core::default::Default::default()),
            };
            let error = error(&ret, &detail.expression);
            quote!(match #error { Some(#err) => #value, None => #nothing })
        }
        _ => value,
    };
    match detail.field.is_slice() || detail.field.is_array() {
        true => quote!(&#value),
        _ if is_text && !detail.outlives => quote!(#value.text()),
        _ => value,
    }
}

/// The error of a result, or what the compiler says at the expression that wants one.
fn error(ret: &Ident, expression: &Expression) -> TokenStream {
    let check = quote_spanned!(expression.span()=> ::lttng_provider::__private::Fallible::error);
    quote!(#check(#ret))
}

/// What is recorded for a value from the outcome of a call that had none.
fn nothing(detail: &Detail<'_>) -> TokenStream {
    match &detail.field {
        field if field.is_slice() => quote!(&[]),
        field if field.is_array() => quote!(&::core::array::from_fn(|_| ::core::default::Default::default())),
        field if field.is_enumeration() => quote!(::core::convert::From::from(0)),
        field if field.is_text() => quote!(::lttng_provider::Text::default()),
        _ => quote!(::core::default::Default::default()),
    }
}

/// A name that the function's body does not see.
pub(super) fn mixed_site(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}

/// What is kept at the entry: a value for each detail that is known there, and whether to record.
pub(super) fn keep(event: &Measured<'_>) -> TokenStream {
    let values = event.details.iter().filter(|detail| detail.known == Known::Before).map(value);
    let when = event.when.filter(|(_, known)| *known == Known::Before).map(|(condition, _)| condition);
    let when = when.into_iter();
    quote!(|| (#(#values,)* #(#when,)*))
}

/// A value that borrows nothing from the function, so that the body may change and consume its parameters.
fn value(detail: &Detail<'_>) -> TokenStream {
    let Detail { field, how, expression, .. } = detail;
    match how {
        How::Display => {
            let reference = expression.reference();
            return quote_spanned!(expression.span()=> ::lttng_provider::OwnedText::display(#reference));
        }
        How::Debug => {
            let arguments = quote_spanned!(expression.span()=> ::core::format_args!("{:?}", #expression));
            return quote!(::lttng_provider::OwnedText::display(&#arguments));
        }
        How::Plain => {}
    }
    if detail.outlives {
        return field.convert_traced(quote!(#expression));
    }
    let value = field.convert_expression(expression, CatalogField::convert_traced);
    match () {
        () if field.is_slice() => quote!(<[_]>::to_vec(#value)),
        () if field.is_array() => quote!(*#value),
        () if field.is_text() => quote!(::lttng_provider::OwnedText::new(#value)),
        () => value,
    }
}

/// The detail from what was kept.
fn lend(detail: &Detail<'_>) -> TokenStream {
    let name = detail.field.name();
    if detail.outlives {
        return quote!(*#name);
    }
    match detail.field.is_slice() || detail.field.is_array() {
        true => quote!(#name),
        _ if detail.field.is_text() => quote!(#name.text()),
        _ => quote!(*#name),
    }
}
