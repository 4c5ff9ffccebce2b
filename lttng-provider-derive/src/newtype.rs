//! `#[derive(EventValue)]`: a newtype is recorded as what it wraps.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Fields, parse_quote};

pub(crate) fn derive(input: &DeriveInput) -> syn::Result<TokenStream> {
    let field = match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) if fields.named.len() == 1 => fields.named.first(),
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => fields.unnamed.first(),
            _ => None,
        },
        _ => None,
    };
    let Some(field) = field else {
        let message =
            "`EventValue` is for a struct of one field, which is what is recorded: use `Event` for several";
        return Err(syn::Error::new_spanned(&input.ident, message));
    };
    let name = &input.ident;
    let kind = &field.ty;
    let member = field.ident.as_ref().map_or_else(|| quote!(0), |name| quote!(#name));
    let mut generics = input.generics.clone();
    let (_, type_generics, _) = input.generics.split_for_impl();
    generics.params.insert(0, parse_quote!('__value));
    generics.params.push(parse_quote!(__Recorded));
    generics.make_where_clause().predicates.push(parse_quote!(
        #kind: ::lttng_provider::Value<'__value, __Recorded>
    ));
    let (impl_generics, _, where_clause) = generics.split_for_impl();
    Ok(quote! {
        #[automatically_derived]
        #[diagnostic::do_not_recommend]
        impl #impl_generics ::lttng_provider::Value<'__value, __Recorded> for #name #type_generics #where_clause {
            #[inline]
            fn value(&'__value self) -> __Recorded {
                ::lttng_provider::Value::value(&self.#member)
            }
        }
    })
}
