//! A function, before the catalog is known.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Expr, ExprAsync, FnArg, Ident, ItemFn, Pat, ReturnType, Signature, Stmt, Token, Type,
    Visibility, parse_quote,
};

use crate::words::has_word;

/// A function or method with a body.
pub(super) struct Function {
    pub(super) item: ItemFn,
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        check(&input.fork())?;
        let function = Function { item: input.parse()? };
        match &function.item.sig.output {
            ReturnType::Type(_, kind) if !function.is_async() && is_future(kind) => {
                let message = "only the creation of the future would be measured, not its run: make this an \
                               `async fn`, or end it with `async move { … }` or `Box::pin(async move { … })`";
                Err(syn::Error::new_spanned(kind, message))
            }
            ReturnType::Type(_, kind) if function.item.sig.asyncness.is_some() && is_stream(kind) => {
                let message = "only the creation of the stream would be measured, not its run: remove `async`, or put \
                               `#[traced]` on a function that is called to make the stream";
                Err(syn::Error::new_spanned(kind, message))
            }
            _ => Ok(function),
        }
    }
}

/// Refuses functions that cannot be measured, or not as one would expect.
fn check(input: ParseStream<'_>) -> syn::Result<()> {
    input.call(Attribute::parse_outer)?;
    input.parse::<Visibility>()?;
    let start = input.span();
    let signature: Signature = input.parse().map_err(|_| {
        syn::Error::new(start, "`#[traced]` measures functions: put it on a function or a method")
    })?;
    if input.peek(Token![;]) {
        let message = "a method without a body cannot be measured: put `#[traced]` on the implementations";
        return Err(syn::Error::new_spanned(&signature.ident, message));
    }
    if let Some(word) = &signature.constness {
        let message = "a `const fn` may run while the program is compiled, and cannot be traced: remove `const`, or `#[traced]`";
        return Err(syn::Error::new_spanned(word, message));
    }
    Ok(())
}

/// A name that the function's body has from the caller.
pub(super) struct Parameter {
    pub(super) name: Ident,
    /// Whether it is a shared reference.
    pub(super) is_reference: bool,
}

/// See [`Function::parameters`].
#[derive(Default)]
pub(super) struct Parameters {
    /// A name for each.
    pub(super) arguments: Vec<Ident>,
    /// Their patterns.
    pub(super) patterns: Vec<TokenStream>,
    /// Statements that take the arguments apart by the patterns.
    pub(super) bindings: Vec<TokenStream>,
    /// `self`, if there is one.
    pub(super) receiver: Option<Token![self]>,
}

impl Function {
    /// Whether it is an `async fn`, or returns the future of an `async` block at its end, as `#[async_trait]` has it.
    pub(super) fn is_async(&self) -> bool {
        self.item.sig.asyncness.is_some() || self.future().is_some()
    }

    /// Whether it returns a stream.
    pub(super) fn is_stream(&self) -> bool {
        matches!(&self.item.sig.output, ReturnType::Type(_, kind) if is_stream(kind))
    }

    /// Whether it returns a stream on the heap.
    pub(super) fn is_boxed_stream(&self) -> bool {
        self.is_stream()
            && matches!(&self.item.sig.output, ReturnType::Type(_, kind) if !matches!(**kind, Type::ImplTrait(_)))
    }

    /// The `async` block at the end of a function that returns a future.
    fn future(&self) -> Option<&ExprAsync> {
        let ReturnType::Type(_, kind) = &self.item.sig.output else { return None };
        let Some(Stmt::Expr(last, None)) = self.item.block.stmts.last() else { return None };
        match last {
            _ if !is_future(kind) => None,
            Expr::Async(block) => Some(block),
            Expr::Call(call) if is_box_pin(&call.func) => match call.args.first() {
                Some(Expr::Async(block)) => Some(block),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether it returns the future of an `async` block at its end.
    pub(super) fn has_future_block(&self) -> bool {
        self.item.sig.asyncness.is_none() && self.future().is_some()
    }

    /// The same function with another body.
    pub(super) fn with_block(&self, statements: TokenStream) -> ItemFn {
        ItemFn { block: parse_quote!({ #statements }), ..self.item.clone() }
    }

    /// The function with parameters that are names, which its body takes apart.
    pub(super) fn with_arguments(&self, statements: TokenStream) -> ItemFn {
        let mut item = self.with_block(statements);
        let mut arguments = self.parameters().arguments.into_iter();
        for input in &mut item.sig.inputs {
            if let FnArg::Typed(parameter) = input {
                let name = arguments.next();
                parameter.pat = parse_quote!(#name);
                parameter.attrs.clear();
            }
        }
        item
    }

    /// Whether an attribute is left that is neither the compiler's nor a linter's.
    pub(super) fn has_foreign_attribute(&self) -> bool {
        const KNOWN: [&str; 14] = [
            "allow",
            "cfg",
            "cfg_attr",
            "clippy",
            "cold",
            "deny",
            "deprecated",
            "diagnostic",
            "doc",
            "expect",
            "inline",
            "must_use",
            "rustfmt",
            "warn",
        ];
        let first = |attribute: &Attribute| {
            attribute.path().segments.first().map(|segment| segment.ident.to_string())
        };
        self.item.attrs.iter().filter_map(first).any(|name| !KNOWN.contains(&name.as_str()))
    }

    /// An `async fn` as a function that returns its future.
    pub(super) fn returning_future(&self, statements: TokenStream) -> ItemFn {
        let mut item = self.with_arguments(statements);
        item.sig.asyncness = None;
        let output: Type = match &self.item.sig.output {
            ReturnType::Default => parse_quote!(()),
            // The type that nothing has cannot be named there, but a function can.
            ReturnType::Type(_, kind) if matches!(**kind, Type::Never(_)) => {
                parse_quote!(<fn() -> ! as ::lttng_provider::__private::Returns>::Output)
            }
            ReturnType::Type(_, kind) => (**kind).clone(),
        };
        item.sig.output = parse_quote!(-> impl ::core::future::Future<Output = #output>);
        item
    }

    /// The statements before the `async` block at the end, and that block with something around it.
    pub(super) fn with_future(
        &self,
        wrap: impl FnOnce(&TokenStream) -> TokenStream,
    ) -> (&[Stmt], TokenStream) {
        let wrapped = wrap(&self.future().into_token_stream());
        let Some((Stmt::Expr(last, _), before)) = self.item.block.stmts.split_last() else {
            return (&[], wrapped);
        };
        match last {
            Expr::Call(call) => {
                let function = &call.func;
                (before, quote!(#function(#wrapped)))
            }
            _ => (before, wrapped),
        }
    }

    /// The parameters as a function has them whose body takes them apart.
    pub(super) fn parameters(&self) -> Parameters {
        let mut parameters = Parameters::default();
        for (index, input) in self.item.sig.inputs.iter().enumerate() {
            let parameter = match input {
                FnArg::Receiver(receiver) => {
                    parameters.receiver = Some(receiver.self_token);
                    continue;
                }
                FnArg::Typed(parameter) => parameter,
            };
            let (pattern, attributes) = (&parameter.pat, &parameter.attrs);
            let argument = match &**pattern {
                Pat::Ident(name) if name.subpat.is_none() && name.by_ref.is_none() => name.ident.clone(),
                _ => Ident::new(&format!("argument_{index}"), Span::mixed_site()),
            };
            let is_name = matches!(&**pattern, Pat::Ident(name) if name.ident == argument);
            // As the compiler does for an `async fn`.
            let whole = (!is_name).then(|| quote!(let #argument = #argument;));
            parameters.bindings.push(quote!(#whole #(#attributes)* let #pattern = #argument;));
            parameters.patterns.push(quote!(#(#attributes)* #pattern));
            parameters.arguments.push(argument);
        }
        parameters
    }

    /// The type of the result, if that can be written elsewhere.
    pub(super) fn output(&self) -> Option<Type> {
        let mut kind: Type = match &self.item.sig.output {
            ReturnType::Default => parse_quote!(()),
            ReturnType::Type(_, kind) => (**kind).clone(),
        };
        if self.future().is_some() {
            kind = output(kind.into_token_stream())?;
        }
        // A type with an `impl Trait` in it cannot be named.
        (!has_word(kind.to_token_stream(), "impl")).then_some(kind)
    }

    /// The parameter of this name, also within a pattern.
    pub(super) fn parameter(&self, name: &str) -> Option<Parameter> {
        self.item.sig.inputs.iter().find_map(|input| {
            let FnArg::Typed(parameter) = input else { return None };
            let name = bound(&parameter.pat, name)?.clone();
            let is_reference = matches!(*parameter.pat, Pat::Ident(_))
                && matches!(&*parameter.ty, Type::Reference(reference) if reference.mutability.is_none());
            Some(Parameter { name, is_reference })
        })
    }
}

/// `Box::pin`, by any path.
fn is_box_pin(function: &Expr) -> bool {
    let Expr::Path(path) = function else { return false };
    let mut names = path.path.segments.iter().rev().map(|segment| segment.ident.to_string());
    names.next().as_deref() == Some("pin") && names.next().as_deref() == Some("Box")
}

/// The type that a future has as its `Output`.
fn output(kind: TokenStream) -> Option<Type> {
    let assigned = |input: ParseStream<'_>| {
        input.parse::<Token![=]>()?;
        let kind: Type = input.parse()?;
        input.parse::<TokenStream>()?;
        Ok(kind)
    };
    let mut rest = kind.into_iter();
    while let Some(token) = rest.next() {
        let found = match token {
            TokenTree::Group(group) => output(group.stream()),
            TokenTree::Ident(word) if word == "Output" => assigned.parse2(rest.clone().collect()).ok(),
            _ => None,
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

/// A name that a pattern binds.
fn bound<'p>(pattern: &'p Pat, name: &str) -> Option<&'p Ident> {
    let in_one_of =
        |patterns: &'p Punctuated<Pat, _>| patterns.iter().find_map(|pattern| bound(pattern, name));
    match pattern {
        Pat::Ident(bound) if bound.ident == name => Some(&bound.ident),
        Pat::Ident(other) => other.subpat.as_ref().and_then(|(_, pattern)| bound(pattern, name)),
        Pat::Or(any) => any.cases.iter().find_map(|pattern| bound(pattern, name)),
        Pat::Paren(within) => bound(&within.pat, name),
        Pat::Reference(within) => bound(&within.pat, name),
        Pat::Slice(slice) => in_one_of(&slice.elems),
        Pat::Struct(fields) => fields.fields.iter().find_map(|field| bound(&field.pat, name)),
        Pat::Tuple(tuple) => in_one_of(&tuple.elems),
        Pat::TupleStruct(tuple) => in_one_of(&tuple.elems),
        Pat::Type(within) => bound(&within.pat, name),
        _ => None,
    }
}

/// Whether a type is `impl Future`, or a pointer to `dyn Future` as `async_trait` makes it.
fn is_future(kind: &Type) -> bool {
    hides(kind, &["Future", "BoxFuture", "LocalBoxFuture"])
}

/// Whether a type is `impl Stream` or a pointer to `dyn Stream`, and not a type that is called so.
fn is_stream(kind: &Type) -> bool {
    let is_trait = matches!(kind, Type::ImplTrait(_)) || hides(kind, &["dyn"]);
    hides(kind, &["BoxStream", "LocalBoxStream"]) || (is_trait && hides(kind, &["Stream"]))
}

/// Whether a type that hides what it is made of has one of these words in it.
fn hides(kind: &Type, wanted: &[&str]) -> bool {
    let has = |word: &&str| has_word(kind.to_token_stream(), word);
    matches!(kind, Type::ImplTrait(_) | Type::Path(_)) && wanted.iter().any(has)
}
