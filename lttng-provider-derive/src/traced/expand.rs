//! The code for a function: the same one, with a measurement before its body.

use std::time::Duration;

use lttng_catalog::FieldType;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{Ident, ReturnType, Type, TypeImplTrait, parse_quote};

use super::model::{Detail, Model};
use super::options::How;
use crate::field::reference;

pub(super) fn expand(model: &Model<'_>) -> TokenStream {
    let mut item = model.function.item.clone();
    let watch = &model.catalogs.watch;
    let event = &model.event.path;
    let (entry, measurement) = (mixed_site("entry"), mixed_site("_measurement"));
    let keep = keep(&model.details);
    let details = details(model);
    let threshold = threshold(model.slower_than);
    let start = quote! {
        #watch
        let #entry = ::lttng_provider::Entry::<#event, _>::new(#keep);
        let #measurement = #entry.measure(#details, #threshold);
    };
    let statements = &item.block.stmts;
    *item.block = if model.polling {
        let output = output(&item.sig.output);
        parse_quote!({ #start ::lttng_provider::polled!(#measurement, { #output #(#statements)* }) })
    } else {
        parse_quote!({ #start #(#statements)* })
    };
    item.into_token_stream()
}

/// A name that the function's body does not see.
fn mixed_site(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}

/// What is kept at the entry: a value for each detail.
fn keep(details: &[Detail<'_>]) -> TokenStream {
    let values = details.iter().map(value);
    quote!(|| (#(#values,)*))
}

/// The details from what was kept.
fn details(model: &Model<'_>) -> TokenStream {
    if model.details.is_empty() {
        return quote!(|()| ::lttng_provider::NoDetails {});
    }
    let event = &model.event.path;
    let names: Vec<Ident> = model.details.iter().map(|detail| detail.field.name()).collect();
    let values = model.details.iter().map(lend);
    quote!(|(#(#names,)*)| #event::details(#(#values),*))
}

fn threshold(slower_than: Duration) -> TokenStream {
    match u64::try_from(slower_than.as_nanos()) {
        Ok(0) | Err(_) => quote!(::core::time::Duration::ZERO),
        Ok(nanoseconds) => quote!(::core::time::Duration::from_nanos(#nanoseconds)),
    }
}

/// A value that borrows nothing from the function, so that the body may do with its parameters what it likes.
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
    match &field.field.kind {
        FieldType::Sequence { .. } => quote!(<[_]>::to_vec(#value)),
        FieldType::Array { .. } => quote!(*#value),
        _ if field.is_text() => quote!(::lttng_provider::OwnedText::new(#value)),
        _ => value,
    }
}

/// The detail from what was kept.
fn lend(detail: &Detail<'_>) -> TokenStream {
    let name = detail.field.name();
    if detail.outlives {
        return quote!(*#name);
    }
    match &detail.field.field.kind {
        FieldType::Sequence { .. } | FieldType::Array { .. } => quote!(#name),
        _ if detail.field.is_text() => quote!(#name.text()),
        _ => quote!(*#name),
    }
}

/// Tells the compiler the type of an async block, which `?` in it needs; nothing can be said of `impl Trait`.
fn output(output: &ReturnType) -> TokenStream {
    let kind: Type = match output {
        ReturnType::Default => parse_quote!(()),
        ReturnType::Type(_, kind) => (**kind).clone(),
    };
    let mut unnamed = Unnamed(false);
    unnamed.visit_type(&kind);
    if unnamed.0 {
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

/// Whether a type has an `impl Trait` in it.
struct Unnamed(bool);

impl<'ast> Visit<'ast> for Unnamed {
    fn visit_type_impl_trait(&mut self, _: &'ast TypeImplTrait) {
        self.0 = true;
    }
}
