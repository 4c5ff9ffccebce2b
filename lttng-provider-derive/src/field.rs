//! A field of the catalog: the type that it takes, and the conversion of a value to it.

use lttng_catalog::lowered::Argument;
use lttng_catalog::{Field, NumberKind, Provider};
use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::spanned::Spanned;
use syn::{
    BinOp, Block, Expr, ExprBinary, ExprBlock, ExprGroup, ExprIf, ExprLit, ExprMatch, ExprParen,
    ExprReference, ExprUnary, Ident, Lifetime, Lit, Stmt, Token, Type, UnOp,
};

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
        expression: &Expr,
        convert: impl FnOnce(&Self, TokenStream) -> TokenStream,
    ) -> TokenStream {
        // The type of `3` and of `1 + 2` depends on the context.
        if let Some(kind) = self.number_type().filter(|_| is_bare_number(expression)) {
            return quote!(::core::convert::identity::<#kind>(#expression));
        }
        let reference = reference(expression);
        convert(self, quote!(#reference))
    }

    /// The type of a number; a literal of it needs no suffix.
    fn number_type(&self) -> Option<TokenStream> {
        let is_literal = self.argument.is_number()
            && !self.is_enumeration()
            && self.argument.shape.element.kind != NumberKind::Bool;
        is_literal.then(|| self.argument.rust_type("").parse().expect("the catalog names types of Rust"))
    }
}

/// `&expression`, with parentheses only where they are needed: the compiler's errors would point at their beginning
/// only.
pub(crate) fn reference(expression: &Expr) -> ExprReference {
    ExprReference {
        attrs: Vec::new(),
        and_token: Token![&](expression.span()),
        mutability: None,
        expr: Box::new(expression.clone()),
    }
}

fn elided() -> Lifetime {
    Lifetime::new("'_", Span::call_site())
}

/// Whether all that decides the type of an expression is numbers without a suffix.
fn is_bare_number(expression: &Expr) -> bool {
    match expression {
        Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) => number.suffix().is_empty(),
        Expr::Lit(ExprLit { lit: Lit::Float(number), .. }) => number.suffix().is_empty(),
        Expr::Unary(ExprUnary { op: UnOp::Neg(_) | UnOp::Not(_), expr, .. }) => is_bare_number(expr),
        Expr::Paren(ExprParen { expr, .. }) | Expr::Group(ExprGroup { expr, .. }) => is_bare_number(expr),
        Expr::Binary(ExprBinary { left, op: BinOp::Shl(_) | BinOp::Shr(_), .. }) => is_bare_number(left),
        Expr::Binary(ExprBinary { left, op, right, .. }) => {
            let compares = matches!(
                op,
                BinOp::Eq(_) | BinOp::Ne(_) | BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_)
            );
            !compares && is_bare_number(left) && is_bare_number(right)
        }
        Expr::Block(ExprBlock { block, .. }) => ends_in_bare_number(block),
        Expr::If(ExprIf { then_branch, else_branch: Some((_, other)), .. }) => {
            ends_in_bare_number(then_branch) && is_bare_number(other)
        }
        Expr::Match(ExprMatch { arms, .. }) => {
            !arms.is_empty() && arms.iter().all(|arm| is_bare_number(&arm.body))
        }
        _ => false,
    }
}

fn ends_in_bare_number(block: &Block) -> bool {
    matches!(block.stmts.last(), Some(Stmt::Expr(last, None)) if is_bare_number(last))
}
