//! A struct with its attributes, before the catalog is known.

use syn::{Data, DeriveInput, Fields, Generics, Ident, LitStr, Type};

use crate::expression::Expression;
use crate::target::TargetAttribute;

/// A struct.
pub(super) struct Input<'i> {
    pub(super) name: &'i Ident,
    pub(super) generics: &'i Generics,
    pub(super) attribute: TargetAttribute,
    pub(super) fields: Vec<StructField<'i>>,
}

/// A field of it.
pub(super) struct StructField<'i> {
    pub(super) name: &'i Ident,
    pub(super) kind: &'i Type,
    /// What the catalog calls it, if that is another name.
    pub(super) rename: Option<LitStr>,
    pub(super) skip: bool,
    pub(super) how: How,
}

/// How the value of a field is recorded.
pub(super) enum How {
    /// As it is.
    Plain,
    /// As `Display` prints it: `#[event(display)]`, which is kept for messages.
    Display(Ident),
    /// As this for `None`, else as what is in `Some`: `#[event(none = …)]`.
    None(Expression),
}

impl<'i> Input<'i> {
    pub(super) fn parse(input: &'i DeriveInput) -> syn::Result<Self> {
        let attribute = TargetAttribute::find(input, "shop::sold")?;
        let Data::Struct(data) = &input.data else {
            let message = "an event is a struct; for the values of a field use `EventEnum`";
            return Err(syn::Error::new_spanned(&input.ident, message));
        };
        let fields = match &data.fields {
            Fields::Named(fields) => {
                fields.named.iter().map(StructField::parse).collect::<syn::Result<_>>()?
            }
            Fields::Unit => Vec::new(),
            Fields::Unnamed(fields) => {
                let message = "name the fields: they are matched with the catalog's by name";
                return Err(syn::Error::new_spanned(fields, message));
            }
        };
        Ok(Input { name: &input.ident, generics: &input.generics, attribute, fields })
    }
}

impl<'i> StructField<'i> {
    fn parse(field: &'i syn::Field) -> syn::Result<Self> {
        let Some(name) = &field.ident else {
            return Err(syn::Error::new_spanned(field, "name the field"));
        };
        let mut parsed = StructField { name, kind: &field.ty, rename: None, skip: false, how: How::Plain };
        for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("event")) {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("rename") {
                    parsed.rename = Some(meta.value()?.parse()?);
                } else if meta.path.is_ident("skip") {
                    parsed.skip = true;
                } else if let Some(option) = meta.path.get_ident().filter(|option| *option == "display") {
                    parsed.how = How::Display(option.clone());
                } else if meta.path.is_ident("none") {
                    parsed.how = How::None(meta.value()?.parse()?);
                } else {
                    return Err(meta.error(
                        "unknown option; the options of a field are `rename = \"name in the catalog\"`, `skip`, `display` and \
                         `none = value`",
                    ));
                }
                Ok(())
            })?;
        }
        Ok(parsed)
    }
}
