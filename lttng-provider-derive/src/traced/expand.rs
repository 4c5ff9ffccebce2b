//! The code for a function: the same one, with a measurement before its body.

use lttng_catalog::FieldType;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Ident, ReturnType, Type, parse_quote};

use super::model::{Detail, Model};
use super::options::How;

pub(super) fn expand(model: &Model<'_>) -> TokenStream {
    let mut item = model.function.item.clone();
    let watch = &model.catalogs.watch;
    let start = start(model);
    let statements = &item.block.stmts;
    let measurement = Ident::new("_measurement", Span::mixed_site());
    *item.block = if model.polling {
        let output = output(&item.sig.output);
        parse_quote!({
            #watch
            let #measurement = #start;
            ::lttng_provider::polled!(#measurement, { #output #(#statements)* })
        })
    } else {
        parse_quote!({
            #watch
            let #measurement = #start;
            #(#statements)*
        })
    };
    item.into_token_stream()
}

/// The measurement: what it keeps, the details from that, and how long it must take.
fn start(model: &Model<'_>) -> TokenStream {
    let event = &model.event.path;
    let threshold = match u64::try_from(model.slower_than.as_nanos()) {
        Ok(0) | Err(_) => quote!(::core::time::Duration::ZERO),
        Ok(nanoseconds) => quote!(::core::time::Duration::from_nanos(#nanoseconds)),
    };
    if model.details.is_empty() {
        return quote! {
            ::lttng_provider::Measurement::<#event, _, _>::start(|| (), |()| ::lttng_provider::NoDetails {}, #threshold)
        };
    }
    let kept = model.details.iter().map(keep);
    let names: Vec<Ident> = model.details.iter().map(|detail| detail.field.name()).collect();
    let values = model.details.iter().map(lend);
    quote! {
        ::lttng_provider::Measurement::<#event, _, _>::start(
            || (#(#kept,)*),
            |(#(#names,)*)| #event::details(#(#values),*),
            #threshold,
        )
    }
}

/// A value that does not borrow, so that the body may do with its parameters what it likes.
fn keep(detail: &Detail<'_>) -> TokenStream {
    let Detail { field, how, expression } = detail;
    let span = expression.span();
    match how {
        How::Display => return quote_spanned!(span=> ::lttng_provider::OwnedText::display(&(#expression))),
        How::Debug => {
            return quote_spanned!(span=> ::lttng_provider::OwnedText::display(::core::format_args!("{:?}", #expression)));
        }
        How::Plain => {}
    }
    let value = field.convert_expression(expression);
    match &field.field.kind {
        FieldType::String | FieldType::Text { .. } | FieldType::TextArray(_) => {
            quote!(::lttng_provider::OwnedText::new(#value))
        }
        FieldType::Sequence { .. } => quote!(<[_]>::to_vec(#value)),
        FieldType::Array { .. } => quote!(*#value),
        _ => value,
    }
}

/// The detail from what was kept.
fn lend(detail: &Detail<'_>) -> TokenStream {
    let name = detail.field.name();
    match &detail.field.field.kind {
        FieldType::String | FieldType::Text { .. } | FieldType::TextArray(_) => quote!(#name.text()),
        FieldType::Sequence { .. } | FieldType::Array { .. } => quote!(#name),
        _ => quote!(*#name),
    }
}

/// Tells the compiler the type of an async block, which `?` in it needs; nothing can be said of `impl Trait`.
fn output(output: &ReturnType) -> TokenStream {
    let kind: Type = match output {
        ReturnType::Default => parse_quote!(()),
        ReturnType::Type(_, kind) => (**kind).clone(),
    };
    if kind.to_token_stream().into_iter().any(|token| token.to_string() == "impl") {
        return TokenStream::new();
    }
    quote! {
        #[allow(unreachable_code, clippy::all)]
        if false {
            let output: #kind = loop {};
            return output;
        }
    }
}
