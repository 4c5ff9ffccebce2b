//! The code for a function: the same one, with a measurement before its body.

use std::time::Duration;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{Ident, ReturnType, Type, TypeImplTrait, parse_quote};

use super::model::{Detail, Known, Measured, Model};
use super::options::How;
use crate::field::reference;

pub(super) fn expand(model: &Model<'_>) -> TokenStream {
    let mut item = model.function.item.clone();
    let block = match &model.events[..] {
        [event] if !model.has_outcome() => alone(model, event),
        _ => together(model),
    };
    *item.block = parse_quote!({ #block });
    item.into_token_stream()
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
    let signature = &model.function.item.sig;
    let statements = &model.function.item.block.stmts;
    if model.polling {
        let output = output(&signature.output);
        quote!(#start ::lttng_provider::__private::polled!(#measurement, { #output #(#statements)* }))
    } else {
        quote!(#start #(#statements)*)
    }
}

/// Several events from one measurement, or one with values from the function's outcome.
fn together(model: &Model<'_>) -> TokenStream {
    let watch = &model.catalogs.watch;
    let entries: Vec<Ident> =
        (0..model.events.len()).map(|index| mixed_site(&format!("entry_{index}"))).collect();
    let (clock, duration) = (mixed_site("clock"), mixed_site("duration"));
    let targets = model.events.iter().map(|event| &event.target.path);
    let keeps = model.events.iter().map(keep);
    let threshold = threshold(model.slower_than);
    let records = model.events.iter().zip(&entries).map(|(event, entry)| record(event, entry, &duration));
    let records = quote!(#(#records)*);
    let start = quote! {
        #watch
        #(
            let mut #entries = ::lttng_provider::__private::Entry::<#targets, _>::new();
            #entries.keep(#keeps);
        )*
        let mut #clock = ::lttng_provider::__private::Clock::start(false #(|| #entries.is_enabled())*, #threshold);
    };
    let signature = &model.function.item.sig;
    let statements = &model.function.item.block.stmts;
    let ret = Ident::new("ret", Span::call_site());
    if !model.has_outcome() && !model.polling {
        let guard = mixed_site("_guard");
        return quote! {
            #start
            let #guard = #clock.guard(|#duration| { #records });
            #(#statements)*
        };
    }
    let body = if signature.asyncness.is_some() {
        let output = output(&signature.output);
        let way = if model.polling { quote!(polling) } else { quote!(waiting) };
        quote!(#way { #output #(#statements)* })
    } else {
        let output = closure_output(&signature.output);
        quote!(calling [#output] { #(#statements)* })
    };
    let check = check(&signature.output, &ret, &duration, &records);
    quote! {
        #start
        #check
        ::lttng_provider::__private::outcome!(#clock, |#duration, #ret| { #records }, #body)
    }
}

/// Has the compiler check what is recorded even if tracing is off; `impl Trait` cannot be checked.
fn check(output: &ReturnType, ret: &Ident, duration: &Ident, records: &TokenStream) -> TokenStream {
    let Some(kind) = named_output(output) else { return TokenStream::new() };
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
fn record(event: &Measured<'_>, entry: &Ident, duration: &Ident) -> TokenStream {
    let target = &event.target.path;
    let kept = event.details.iter().filter(|detail| detail.known == Known::Before);
    let names = kept.map(|detail| detail.field.name());
    let values = event.details.iter().map(|detail| match detail.known {
        Known::Before => lend(detail),
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
        Some((condition, Known::FromResult)) => (None, quote!(#condition)),
        Some((condition, Known::FromError)) => {
            let err = Ident::new("err", Span::call_site());
            let ret = Ident::new("ret", Span::call_site());
            (None, quote!(match #ret { Err(#err) => #condition, Ok(_) => false }))
        }
    };
    let when_kept = when_kept.into_iter();
    quote! {
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
fn output(output: &ReturnType) -> TokenStream {
    let Some(kind) = named_output(output) else { return TokenStream::new() };
    quote! {
        #[allow(unreachable_code, clippy::all)]
        if false {
            let output: #kind = loop {};
            return output;
        }
    }
}

/// `-> Type` for a closure.
fn closure_output(output: &ReturnType) -> TokenStream {
    named_output(output).map(|kind| quote!(-> #kind)).unwrap_or_default()
}

/// The type that a function returns, if that can be written elsewhere.
fn named_output(output: &ReturnType) -> Option<Type> {
    let kind: Type = match output {
        ReturnType::Default => parse_quote!(()),
        ReturnType::Type(_, kind) => (**kind).clone(),
    };
    let mut unnamed = Unnamed(false);
    unnamed.visit_type(&kind);
    (!unnamed.0).then_some(kind)
}

/// Whether a type has an `impl Trait` in it.
struct Unnamed(bool);

impl<'ast> Visit<'ast> for Unnamed {
    fn visit_type_impl_trait(&mut self, _: &'ast TypeImplTrait) {
        self.0 = true;
    }
}
