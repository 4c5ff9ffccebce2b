//! `#[derive(EventEnum)]`: an enum of the program becomes an enum of the catalog.

mod expand;
mod model;
mod parse;

use proc_macro2::TokenStream;
use syn::DeriveInput;

use crate::catalogs::Catalogs;

pub(crate) fn derive(input: &DeriveInput) -> syn::Result<TokenStream> {
    let input = parse::Input::parse(input)?;
    let catalogs = Catalogs::read(input.attribute.catalog.as_ref())?;
    let model = model::Model::new(&input, &catalogs)?;
    Ok(expand::expand(&model))
}
