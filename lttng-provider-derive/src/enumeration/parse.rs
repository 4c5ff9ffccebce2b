//! An enum with its attributes, before the catalog is known.

use syn::{Data, DeriveInput, Expr, Fields, Generics, Ident, LitStr, Type};

use crate::target::TargetAttribute;

/// An enum.
pub(super) struct Input<'i> {
    pub(super) name: &'i Ident,
    pub(super) generics: &'i Generics,
    pub(super) attribute: TargetAttribute,
    pub(super) variants: Vec<Variant<'i>>,
}

/// A variant of it.
pub(super) struct Variant<'i> {
    pub(super) name: &'i Ident,
    /// The type of the value that it carries.
    pub(super) carries: Option<&'i Type>,
    /// Its number, if it is written: `Card = 1`.
    pub(super) number: Option<&'i Expr>,
    /// The label, if it does not follow from the name.
    pub(super) label: Option<LitStr>,
    /// Whether it stands for all values without a label.
    pub(super) other: bool,
}

impl<'i> Input<'i> {
    pub(super) fn parse(input: &'i DeriveInput) -> syn::Result<Self> {
        let attribute = TargetAttribute::find(input, "shop::Payment")?;
        let Data::Enum(data) = &input.data else {
            let message = "`EventEnum` is for an enum; for a struct use `Event` or `EventValue`";
            return Err(syn::Error::new_spanned(&input.ident, message));
        };
        let variants = data.variants.iter().map(Variant::parse).collect::<syn::Result<_>>()?;
        Ok(Input { name: &input.ident, generics: &input.generics, attribute, variants })
    }
}

impl<'i> Variant<'i> {
    fn parse(variant: &'i syn::Variant) -> syn::Result<Self> {
        let carries = match &variant.fields {
            Fields::Unit => None,
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
                fields.unnamed.first().map(|field| &field.ty)
            }
            fields => {
                let message = "a variant has no fields, or one without a name: the value that is recorded";
                return Err(syn::Error::new_spanned(fields, message));
            }
        };
        let number = variant.discriminant.as_ref().map(|(_, number)| number);
        let mut parsed = Variant { name: &variant.ident, carries, number, label: None, other: false };
        for attribute in variant.attrs.iter().filter(|attribute| attribute.path().is_ident("event")) {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("label") {
                    parsed.label = Some(meta.value()?.parse()?);
                } else if meta.path.is_ident("other") {
                    parsed.other = true;
                } else {
                    let message = "a variant has the options `label = \"LABEL in the catalog\"` and `other`";
                    return Err(meta.error(message));
                }
                Ok(())
            })?;
        }
        Ok(parsed)
    }
}
