//! A field of the catalog: the type that it takes, and the conversion of a value to it.

use lttng_catalog::lowered::Argument;
use lttng_catalog::{Field, NumberKind, Provider};
use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{Ident, Lifetime, Type};

use crate::expression::Expression;
use crate::target::Target;

/// A field of an event that a macro fills; its argument is lowered as for generated code.
pub(crate) struct CatalogField<'c> {
    pub(crate) field: &'c Field,
    argument: Argument<'c>,
    event: &'c Target,
}

impl<'c> CatalogField<'c> {
    pub(crate) fn new(provider: &'c Provider, event: &'c Target, field: &'c Field) -> Self {
        CatalogField { field, argument: Argument::lower(provider, field), event }
    }

    /// The argument's name in Rust.
    pub(crate) fn name(&self) -> Ident {
        let name = &self.argument.rust_name;
        match name.strip_prefix("r#") {
            Some(raw) => Ident::new_raw(raw, Span::mixed_site()),
            None => Ident::new(name, Span::mixed_site()),
        }
    }

    /// What the catalog has, for a message: `` `count: u32` (How many.) ``.
    pub(crate) fn description(&self) -> String {
        let Field { argument, kind, doc, .. } = self.field;
        let doc = doc.split_whitespace().collect::<Vec<_>>().join(" ");
        let doc = if doc.is_empty() { doc } else { format!(" ({doc})") };
        format!("`{argument}: {kind}`{doc}")
    }

    /// Whether there is an argument to fill; a stack is taken where the event is recorded.
    pub(crate) fn is_passed(&self) -> bool {
        self.argument.is_passed()
    }

    pub(crate) fn is_text(&self) -> bool {
        self.argument.is_text()
    }

    pub(crate) fn is_enumeration(&self) -> bool {
        self.argument.is_enumeration()
    }

    /// Whether it is a list of any length.
    pub(crate) fn is_slice(&self) -> bool {
        self.argument.is_slice()
    }

    /// Whether it is a list of a fixed length.
    pub(crate) fn is_array(&self) -> bool {
        self.argument.is_array()
    }

    /// The type that a value is converted to: the `T` of `lttng_provider::Value`.
    pub(crate) fn value_type(&self, lifetime: &Lifetime) -> TokenStream {
        if self.is_text() {
            return quote!(::lttng_provider::Text<#lifetime>);
        }
        let name = self.argument.rust_type(&lifetime.to_string());
        if self.is_enumeration() {
            let path = self.event.sibling(&name);
            return quote!(#path);
        }
        let kind: TokenStream = name.parse().expect("the catalog names types of Rust");
        match self.argument.time_unit() {
            Some(_) => quote!(::lttng_provider::Time<#kind>),
            None => kind,
        }
    }

    /// The argument from a reference to a value of this type, which the compiler points at in its errors.
    pub(crate) fn convert(&self, kind: &Type, reference: TokenStream) -> TokenStream {
        let target = self.value_type(&elided());
        self.count(quote!(<#kind as ::lttng_provider::Value<'_, #target>>::value(#reference)))
    }

    /// The argument from a reference to a value of a type that only the compiler knows.
    pub(crate) fn convert_inferred(&self, reference: TokenStream) -> TokenStream {
        let target = self.value_type(&elided());
        self.count(quote!(::lttng_provider::Value::<'_, #target>::value(#reference)))
    }

    /// The same for `#[traced]`, where a value that cannot be recorded gets other advice.
    pub(crate) fn convert_traced(&self, reference: TokenStream) -> TokenStream {
        let target = self.value_type(&elided());
        self.count(quote!(::lttng_provider::__private::TracedValue::<'_, #target>::traced_value(#reference)))
    }

    /// A time becomes a number in the unit of the field.
    fn count(&self, value: TokenStream) -> TokenStream {
        match self.argument.time_unit() {
            Some(unit) => {
                let unit = Ident::new(&format!("{unit:?}"), Span::call_site());
                quote!(#value.count(::lttng_provider::Unit::#unit))
            }
            None => value,
        }
    }

    /// The argument from an expression; `convert` is one of the two above.
    pub(crate) fn convert_expression(
        &self,
        expression: &Expression,
        convert: impl FnOnce(&Self, TokenStream) -> TokenStream,
    ) -> TokenStream {
        // The type of `3` and of `1 + 2` depends on the context.
        if let Some(kind) = self.number_type().filter(|_| expression.is_bare_number()) {
            return quote!(::core::convert::identity::<#kind>(#expression));
        }
        convert(self, expression.reference())
    }

    /// The type of a number; a literal of it needs no suffix.
    fn number_type(&self) -> Option<TokenStream> {
        let is_literal = self.argument.is_number()
            && !self.is_enumeration()
            && self.argument.shape.element.kind != NumberKind::Bool;
        is_literal.then(|| self.argument.rust_type("").parse().expect("the catalog names types of Rust"))
    }
}

fn elided() -> Lifetime {
    Lifetime::new("'_", Span::call_site())
}
