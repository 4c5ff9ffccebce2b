//! What an attribute names: a path to generated code, whose last two parts are the catalog's names, and the
//! catalog.

use syn::parse::{Parse, ParseStream};
use syn::{Ident, LitStr, Path, Token};

/// `shop::sold` or `crate::events::shop::sold`.
pub(crate) struct Target {
    /// The path as it was written.
    pub(crate) path: Path,
    /// The part before the last: a provider.
    pub(crate) provider: Ident,
    /// The last part: an event or the name of an enum in Rust.
    pub(crate) item: Ident,
}

impl Target {
    /// The path to something else of the same provider.
    pub(crate) fn sibling(&self, name: &str) -> Path {
        let mut path = self.path.clone();
        if let Some(last) = path.segments.last_mut() {
            last.ident = Ident::new(name, self.item.span());
        }
        path
    }
}

impl Parse for Target {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if let Ok(name) = input.fork().parse::<LitStr>() {
            let path = name.value().replace([':', ' '], "::").replace("::::", "::");
            let message = format!("name the event by the path of its type, without quotes: `{path}`");
            return Err(syn::Error::new(name.span(), message));
        }
        let path = input.call(Path::parse_mod_style)?;
        let mut names = path.segments.iter().rev().map(|segment| segment.ident.clone());
        match (names.next(), names.next()) {
            (Some(item), Some(provider)) => Ok(Target { provider, item, path }),
            _ => Err(syn::Error::new_spanned(path, "the provider is missing: name it, as in `shop::sold`")),
        }
    }
}

/// What is in the parentheses of `#[event(…)]` on a struct or an enum.
pub(crate) struct TargetAttribute {
    pub(crate) target: Target,
    pub(crate) catalog: Option<LitStr>,
}

impl Parse for TargetAttribute {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let target = input.parse()?;
        let mut catalog = None;
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if input.is_empty() {
                break;
            }
            let option: Ident = input.parse()?;
            if option != "catalog" {
                return Err(syn::Error::new(
                    option.span(),
                    format!(
                        "unknown option `{option}`; the only option is `catalog = \"path of the catalog\"`"
                    ),
                ));
            }
            input.parse::<Token![=]>()?;
            catalog = Some(input.parse()?);
        }
        Ok(TargetAttribute { target, catalog })
    }
}

impl TargetAttribute {
    /// The one attribute `#[event(…)]` of a struct or an enum.
    pub(crate) fn find(input: &syn::DeriveInput, example: &str) -> syn::Result<TargetAttribute> {
        let mut attributes = input.attrs.iter().filter(|attribute| attribute.path().is_ident("event"));
        let Some(attribute) = attributes.next() else {
            let message = format!(
                "the attribute `#[event(…)]` is missing: name what this is in the catalog, as in `#[event({example})]`"
            );
            return Err(syn::Error::new_spanned(&input.ident, message));
        };
        match attributes.next() {
            Some(second) => Err(syn::Error::new_spanned(second, "duplicate `#[event(…)]`")),
            None => attribute.parse_args(),
        }
    }
}
