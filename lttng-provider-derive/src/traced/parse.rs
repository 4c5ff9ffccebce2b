//! A function, before the catalog is known.

use quote::ToTokens;
use syn::parse::{Parse, ParseStream};
use syn::visit::{self, Visit};
use syn::{Attribute, FnArg, Ident, ItemFn, Pat, PatIdent, ReturnType, Signature, Token, Type, Visibility};

/// A function or method with a body.
pub(super) struct Function {
    pub(super) item: ItemFn,
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        check(&input.fork())?;
        Ok(Function { item: input.parse()? })
    }
}

/// Refuses functions that cannot be measured, or not as one would expect.
fn check(input: ParseStream<'_>) -> syn::Result<()> {
    input.call(Attribute::parse_outer)?;
    input.parse::<Visibility>()?;
    let start = input.span();
    let signature: Signature =
        input.parse().map_err(|_| syn::Error::new(start, "`#[traced]` belongs on a function or a method"))?;
    if input.peek(Token![;]) {
        let message = "a method without a body cannot be measured: put `#[traced]` on the implementations";
        return Err(syn::Error::new_spanned(&signature.ident, message));
    }
    if let Some(word) = &signature.constness {
        let message = "a `const fn` cannot be traced: it may run while the program is compiled";
        return Err(syn::Error::new_spanned(word, message));
    }
    match &signature.output {
        ReturnType::Type(_, kind) if signature.asyncness.is_none() && is_future(kind) => {
            let message =
                "only the creation of the future would be measured, not its run: make this an `async fn`";
            Err(syn::Error::new_spanned(kind, message))
        }
        _ => Ok(()),
    }
}

/// A name that the function's body has from the caller.
pub(super) struct Parameter {
    pub(super) name: Ident,
    /// Whether it is a shared reference.
    pub(super) is_reference: bool,
}

impl Function {
    /// The parameter of this name, also within a pattern.
    pub(super) fn parameter(&self, name: &str) -> Option<Parameter> {
        self.item.sig.inputs.iter().find_map(|input| {
            let FnArg::Typed(parameter) = input else { return None };
            let mut names = Names(Vec::new());
            names.visit_pat(&parameter.pat);
            let name = names.0.into_iter().find(|bound| bound == name)?;
            let is_reference = matches!(*parameter.pat, Pat::Ident(_))
                && matches!(&*parameter.ty, Type::Reference(reference) if reference.mutability.is_none());
            Some(Parameter { name, is_reference })
        })
    }
}

/// The names that a pattern binds.
struct Names(Vec<Ident>);

impl<'ast> Visit<'ast> for Names {
    fn visit_pat_ident(&mut self, pattern: &'ast PatIdent) {
        self.0.push(pattern.ident.clone());
        visit::visit_pat_ident(self, pattern);
    }
}

/// Whether a type is `impl Future`, or a pointer to `dyn Future` as `async_trait` makes it.
fn is_future(kind: &Type) -> bool {
    let text = kind.to_token_stream().to_string();
    let mut words = text.split(|character: char| !character.is_alphanumeric() && character != '_');
    let future = words.any(|word| matches!(word, "Future" | "BoxFuture" | "LocalBoxFuture"));
    future && matches!(kind, Type::ImplTrait(_) | Type::Path(_))
}
