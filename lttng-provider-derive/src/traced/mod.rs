//! `#[traced]`: a function is measured.

mod expand;
mod future;
mod model;
mod options;
mod parse;
mod values;

use proc_macro2::TokenStream;

use crate::catalogs::Catalogs;

pub(crate) fn attribute(options: TokenStream, function: TokenStream) -> syn::Result<TokenStream> {
    let options: options::Options = syn::parse2(options)?;
    let function: parse::Function = syn::parse2(function)?;
    let catalogs = Catalogs::read(options.catalog.as_ref())?;
    let model = model::Model::new(&options, &function, &catalogs)?;
    Ok(expand::expand(&model))
}
