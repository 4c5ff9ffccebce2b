//! The code for a function: the same one, with a measurement before its body.

use std::time::Duration;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Ident, Path};

use super::model::{Detail, Known, Measured, Model};
use super::options::How;
use super::parse::Function;
use crate::field::reference;

pub(super) fn expand(model: &Model<'_>) -> TokenStream {
    let block = match &model.events[..] {
        _ if model.function.is_stream() => streamed(model),
        [event] if !model.has_outcome() => alone(model, event),
        _ => together(model),
    };
    model.function.with_statements(block).into_token_stream()
}

/// One event, of which all but the duration is known at entry.
fn alone(model: &Model<'_>, event: &Measured<'_>) -> TokenStream {
    let (entry, measurement) = (mixed_site("entry"), mixed_site("_measurement"));
    let watch = &model.catalogs.watch;
    let target = &event.target.path;
    let keep = keep(event);
    let details = details(event);
    let threshold = threshold(model.slower_than);
    let start = quote! {
        #watch
        let mut #entry = ::lttng_provider::__private::Entry::<#target, _>::new();
        #entry.keep(#keep);
        let #measurement = #entry.measure(#details, #threshold);
    };
    let statements = model.function.statements();
    if model.polling {
        let output = output(model.function);
        quote!(#start ::lttng_provider::__private::polled!(#measurement, { #output #(#statements)* }))
    } else {
        quote!(#start #(#statements)*)
    }
}

/// Several events from one measurement, or one with values from the function's outcome.
fn together(model: &Model<'_>) -> TokenStream {
    let watch = &model.catalogs.watch;
    let (entries, targets, keeps) = entries(model);
    let (clock, duration) = (mixed_site("clock"), mixed_site("duration"));
    let threshold = threshold(model.slower_than);
    let records = |ended| -> TokenStream {
        model
            .events
            .iter()
            .zip(&entries)
            .map(|(event, entry)| record(event, entry, &duration, ended))
            .collect()
    };
    let start = quote! {
        #watch
        #(
            let mut #entries = ::lttng_provider::__private::Entry::<#targets, _>::new();
            #entries.keep(#keeps);
        )*
        let mut #clock = ::lttng_provider::__private::Clock::start(false #(|| #entries.is_enabled())*, #threshold);
    };
    let statements = model.function.statements();
    let ret = Ident::new("ret", Span::call_site());
    let records_at_end = records(Ended::WithResult);
    if !model.has_outcome() && !model.polling {
        let guard = mixed_site("_guard");
        return quote! {
            #start
            let #guard = #clock.guard(|#duration| { #records_at_end });
            #(#statements)*
        };
    }
    let check = check(model.function, &ret, &duration, &records_at_end);
    let body = if model.function.is_async() {
        let output = output(model.function);
        let way = if model.polling { quote!(polling) } else { quote!(waiting) };
        let records_of_cancelled = records(Ended::Cancelled);
        quote!(#way { #records_of_cancelled } { #output #(#statements)* })
    } else {
        let output = closure_output(model.function);
        quote!(calling [#output] { #(#statements)* })
    };
    quote! {
        #start
        #check
        ::lttng_provider::__private::outcome!(#clock, |#duration, #ret| { #records_at_end }, #body)
    }
}

/// A stream that the function returns, measured from its first poll. Fields are evaluated when the function is called.
fn streamed(model: &Model<'_>) -> TokenStream {
    let watch = &model.catalogs.watch;
    let (entries, targets, keeps) = entries(model);
    let (stream, duration) = (mixed_site("stream"), mixed_site("duration"));
    let cancelled = Ident::new("cancelled", Span::call_site());
    let records: TokenStream = model
        .events
        .iter()
        .zip(&entries)
        .map(|(event, entry)| record(event, entry, &duration, Ended::Stream))
        .collect();
    let (threshold, polling) = (threshold(model.slower_than), model.polling);
    let statements = model.function.statements();
    let measured = quote! {
        ::lttng_provider::__private::traced_stream(
            #stream,
            ::lttng_provider::__private::StreamMeasurement::new(
                false #(|| #entries.is_enabled())*,
                #threshold,
                #polling,
                move |#duration, #[allow(unused)] #cancelled: bool| { #records },
            ),
        )
    };
    let measured = match model.function.is_boxed_stream() {
        true => quote!(::std::boxed::Box::pin(#measured)),
        false => measured,
    };
    let output = closure_output(model.function);
    quote! {
        #watch
        #(
            let mut #entries = ::lttng_provider::__private::Entry::<#targets, _>::new();
            #entries.keep(#keeps);
        )*
        let #stream = ::lttng_provider::__private::call(move || #output { #(#statements)* });
        #measured
    }
}

/// For each event a name for what is kept of it, its type, and what keeps it.
fn entries<'m>(model: &'m Model<'_>) -> (Vec<Ident>, Vec<&'m Path>, Vec<TokenStream>) {
    let names = (0..model.events.len()).map(|index| mixed_site(&format!("entry_{index}")));
    let targets = model.events.iter().map(|event| &event.target.path);
    (names.collect(), targets.collect(), model.events.iter().map(keep).collect())
}

/// How a call has ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ended {
    /// With a result.
    WithResult,
    /// Its future was dropped before it had one.
    Cancelled,
    /// With the end of its stream, or before that: `cancelled` says which.
    Stream,
}

/// Has the compiler check what is recorded even if tracing is off; `impl Trait` cannot be checked.
fn check(function: &Function, ret: &Ident, duration: &Ident, records: &TokenStream) -> TokenStream {
    let Some(kind) = function.output() else { return TokenStream::new() };
    quote! {
        #[allow(unreachable_code, unused, clippy::all)]
        if false {
            let #ret: &#kind = loop {};
            let #duration = ::core::time::Duration::ZERO;
            #records
        }
    }
}

/// Records an event, if it was enabled at entry.
fn record(event: &Measured<'_>, entry: &Ident, duration: &Ident, ended: Ended) -> TokenStream {
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
            (None, quote!(match #ret { Err(#err) => #condition, Ok(_) => false }))
        }
    };
    let when_kept = when_kept.into_iter();
    let cancelled = Ident::new("cancelled", Span::call_site());
    let is_cancelled = ended == Ended::Cancelled;
    let is_told = event.uses_end() && ended != Ended::Stream;
    let cancelled = is_told.then(|| quote!(let #cancelled = #is_cancelled;));
    quote! {
        #cancelled
        // Nested, and not a let chain, which only the edition 2024 of the caller would take.
        if let ::core::option::Option::Some((#(#names,)* #(#when_kept,)*)) = #entry.kept() {
            if #condition {
                <#target as ::lttng_provider::DurationEvent>::record_duration(#duration, #details);
            }
        }
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
            quote!(match #ret { Err(#err) => #value, Ok(_) => #nothing })
        }
        _ => value,
    };
    match detail.field.is_slice() || detail.field.is_array() {
        true => quote!(&#value),
        _ if is_text && !detail.outlives => quote!(#value.text()),
        _ => value,
    }
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
fn mixed_site(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}

/// What is kept at the entry: a value for each detail that is known there, and whether to record.
fn keep(event: &Measured<'_>) -> TokenStream {
    let values = event.details.iter().filter(|detail| detail.known == Known::Before).map(value);
    let when = event.when.filter(|(_, known)| *known == Known::Before).map(|(condition, _)| condition);
    let when = when.into_iter();
    quote!(|| (#(#values,)* #(#when,)*))
}

/// The details from what was kept.
fn details(event: &Measured<'_>) -> TokenStream {
    if event.details.is_empty() {
        return quote!(|()| ::lttng_provider::NoDetails {});
    }
    let target = &event.target.path;
    let names: Vec<Ident> = event.details.iter().map(|detail| detail.field.name()).collect();
    let values = event.details.iter().map(lend);
    quote!(|(#(#names,)*)| #target::details(#(#values),*))
}

fn threshold(slower_than: Duration) -> TokenStream {
    match u64::try_from(slower_than.as_nanos()) {
        Ok(0) | Err(_) => quote!(::core::time::Duration::ZERO),
        Ok(nanoseconds) => quote!(::core::time::Duration::from_nanos(#nanoseconds)),
    }
}

/// A value that borrows nothing from the function, so that the body may change and consume its parameters.
fn value(detail: &Detail<'_>) -> TokenStream {
    let Detail { field, how, expression, .. } = detail;
    match how {
        How::Display => {
            let reference = reference(expression);
            return quote_spanned!(expression.span()=> ::lttng_provider::OwnedText::display(#reference));
        }
        How::Debug => {
            let arguments = quote_spanned!(expression.span()=> ::core::format_args!("{:?}", #expression));
            return quote!(::lttng_provider::OwnedText::display(&#arguments));
        }
        How::Plain => {}
    }
    if detail.outlives {
        return field.convert_inferred(quote!(#expression));
    }
    let value = field.convert_expression(expression);
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

/// Tells the compiler the type of an async block, which `?` in it needs; not possible for `impl Trait`.
fn output(function: &Function) -> TokenStream {
    let Some(kind) = function.output() else { return TokenStream::new() };
    quote! {
        #[allow(unreachable_code, clippy::all)]
        if false {
            let output: #kind = loop {};
            return output;
        }
    }
}

/// `-> Type` for a closure.
fn closure_output(function: &Function) -> TokenStream {
    function.output().map(|kind| quote!(-> #kind)).unwrap_or_default()
}
