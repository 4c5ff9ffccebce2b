//! The code for an enum.

use proc_macro2::{Literal, TokenStream};
use quote::{quote, quote_spanned};
use syn::Ident;
use syn::spanned::Spanned;

use super::model::{Meaning, Model, literal};
use super::parse::Variant;

pub(super) fn expand(model: &Model<'_>) -> TokenStream {
    let Model { name, container, .. } = model;
    let target = &model.target.path;
    let watch = &model.catalogs.watch;
    let (impl_generics, type_generics, where_clause) = model.generics.split_for_impl();
    let arms = model.variants.iter().map(|(variant, meaning)| arm(target, container, variant, meaning));
    let numbers = model.variants.iter().filter_map(|(variant, meaning)| number_check(variant, meaning));
    quote! {
        #watch
        #(#numbers)*

        #[automatically_derived]
        #[diagnostic::do_not_recommend]
        impl #impl_generics ::lttng_provider::Value<'_, #target> for #name #type_generics #where_clause {
            #[inline]
            fn value(&self) -> #target {
                match self {
                    #(#arms)*
                }
            }
        }

        #[automatically_derived]
        impl #impl_generics ::core::convert::From<#name #type_generics> for #target #where_clause {
            #[inline]
            fn from(value: #name #type_generics) -> Self {
                ::lttng_provider::Value::value(&value)
            }
        }
    }
}

fn arm(target: &syn::Path, container: &Ident, variant: &Variant<'_>, meaning: &Meaning<'_>) -> TokenStream {
    let name = variant.name;
    let Some(kind) = variant.carries else {
        let label = label(meaning, name);
        return quote!(Self::#name => #target::#label,);
    };
    let value = quote!(<#kind as ::lttng_provider::Value<'_, #container>>::value(value));
    match meaning {
        // The value decides, so that one with a label gets it.
        Meaning::Other => {
            quote!(Self::#name(value) => <#target as ::core::convert::From<#container>>::from(#value),)
        }
        _ => {
            let label = label(meaning, name);
            quote!(Self::#name(value) => #target::#label(#value),)
        }
    }
}

/// The generated variant.
fn label(meaning: &Meaning<'_>, name: &Ident) -> Ident {
    match meaning {
        Meaning::Value(label) | Meaning::Range(label) => Ident::new(&label.rust_name(), name.span()),
        Meaning::Other => name.clone(),
    }
}

/// Lets the compiler compare a number that is an expression.
fn number_check(variant: &Variant<'_>, meaning: &Meaning<'_>) -> Option<TokenStream> {
    let (Meaning::Value(label), Some(number)) = (meaning, variant.number) else { return None };
    if literal(number).is_some() {
        return None;
    }
    let value = Literal::i128_unsuffixed(*label.values.start());
    let message = format!(
        "the label `{}` is {value} in the catalog, but another number here: remove the number",
        label.name
    );
    Some(
        quote_spanned!(number.span()=> const _: () = ::core::assert!((#number) as i128 == #value, #message);),
    )
}
