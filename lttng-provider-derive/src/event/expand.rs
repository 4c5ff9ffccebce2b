//! The code for a struct.

use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Generics, Lifetime, Type, WherePredicate, parse_quote};

use super::model::Model;
use super::parse::{How, StructField};
use crate::field::CatalogField;
use crate::words::has_word;

pub(super) fn expand(model: &Model<'_>) -> TokenStream {
    let Model { name, full_name, .. } = model;
    let event = &model.event.path;
    let watch = &model.catalogs.watch;
    let values = model.fields.iter().map(|(expected, field)| value(expected, field));
    let mut generics = model.generics.clone();
    let bounds: Vec<_> =
        model.fields.iter().filter_map(|(e, field)| bound(e, field, model.generics)).collect();
    if !bounds.is_empty() {
        generics.make_where_clause().predicates.extend(bounds);
    }
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    let enabled_doc = format!("Whether a session records `{full_name}` right now.");
    let emit_doc = format!("Emits `{full_name}` with these values if a session records it.");
    quote! {
        #watch

        #[automatically_derived]
        #[allow(dead_code)]
        impl #impl_generics #name #type_generics #where_clause {
            #[doc = #enabled_doc]
            #[inline(always)]
            pub fn enabled() -> bool {
                #event::enabled()
            }

            #[doc = #emit_doc]
            #[inline]
            pub fn emit(&self) {
                if #event::enabled() {
                    #event::record(#(#values),*);
                }
            }
        }

        #[automatically_derived]
        impl #impl_generics ::lttng_provider::Event for #name #type_generics #where_clause {
            const PROVIDER: &'static str = <#event as ::lttng_provider::Event>::PROVIDER;
            const NAME: &'static str = <#event as ::lttng_provider::Event>::NAME;

            #[inline(always)]
            fn enabled() -> bool {
                #event::enabled()
            }

            fn switch() -> &'static ::lttng_provider::Switch {
                #event::switch()
            }
        }
    }
}

/// The argument from the struct's field.
fn value(expected: &CatalogField<'_>, field: &StructField<'_>) -> TokenStream {
    let StructField { name, kind, .. } = field;
    match &field.how {
        How::Plain => expected.convert(kind, quote!(&self.#name)),
        How::Display(_) => {
            let span = kind.span();
            quote_spanned!(span=> ::lttng_provider::OwnedText::display(&self.#name).text())
        }
        How::None(none) => {
            let some = expected.convert_inferred(quote_spanned!(kind.span()=> value));
            let none = expected.convert_expression(none, CatalogField::convert_inferred);
            quote! {
                match &self.#name {
                    ::core::option::Option::Some(value) => #some,
                    ::core::option::Option::None => #none,
                }
            }
        }
    }
}

/// What a field of a generic type must be able to do.
fn bound(
    expected: &CatalogField<'_>,
    field: &StructField<'_>,
    generics: &Generics,
) -> Option<WherePredicate> {
    let kind: &Type = field.kind;
    if !generics.type_params().any(|parameter| has_word(kind.to_token_stream(), &parameter.ident.to_string()))
    {
        return None;
    }
    Some(match &field.how {
        How::Plain => {
            let target = expected.value_type(&Lifetime::new("'value", kind.span()));
            parse_quote!(for<'value> #kind: ::lttng_provider::Value<'value, #target>)
        }
        How::Display(_) => parse_quote!(#kind: ::core::fmt::Display),
        // The bound is on what is in the `Option`, which is not known here.
        How::None(_) => return None,
    })
}
