//! A function, before the catalog is known. Types, patterns and the body are kept as tokens: the compiler parses them.

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Ident, Token, token};

use super::future::{self, FutureBlock, is_future, is_hidden, is_stream};
use crate::words::{has_word, is_sign, is_word};

/// A function or method with a body.
pub(super) struct Function {
    pub(super) attributes: Vec<Attribute>,
    /// Visibility and qualifiers.
    qualifiers: Vec<TokenTree>,
    /// `fn`, its name and generics.
    name: TokenStream,
    inputs: Vec<Input>,
    result: Option<TokenStream>,
    where_clause: TokenStream,
    /// The attributes at the beginning of the body.
    inner: Vec<Attribute>,
    pub(super) statements: TokenStream,
    /// What a function that returns a future ends with.
    future: Option<FutureBlock>,
}

/// A parameter as it is written.
enum Input {
    /// `&mut self`
    Receiver { written: TokenStream, word: Ident },
    /// `(a, b): (u32, &str)`
    Typed { attributes: Vec<Attribute>, pattern: TokenStream, kind: TokenStream },
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let start = input.span();
        let qualifiers = up_to(input, |input| input.peek(Token![fn]));
        let Ok(word) = input.parse::<Token![fn]>() else {
            let message = "`#[traced]` measures functions: put it on a function or a method";
            return Err(syn::Error::new(start, message));
        };
        let name: Ident = input.parse()?;
        let generics: TokenStream = tokens_up_to(input, |input| input.peek(token::Paren));
        let inputs;
        syn::parenthesized!(inputs in input);
        let inputs = inputs.parse_terminated(Input::parse, Token![,])?.into_iter().collect();
        let is_end = |input: ParseStream<'_>| input.peek(token::Brace) || input.peek(Token![;]);
        let arrow: Option<Token![->]> = input.parse()?;
        let result = arrow.map(|_| tokens_up_to(input, |input| input.peek(Token![where]) || is_end(input)));
        let where_clause = tokens_up_to(input, is_end);
        if input.peek(Token![;]) {
            let message =
                "a method without a body cannot be measured: put `#[traced]` on the implementations";
            return Err(syn::Error::new(name.span(), message));
        }
        if let Some(word) = qualifiers.iter().find(|token| is_word(token, "const")) {
            let message = "a `const fn` may run while the program is compiled, and cannot be traced: remove `const`, or `#[traced]`";
            return Err(syn::Error::new(word.span(), message));
        }
        let body;
        syn::braced!(body in input);
        let inner = body.call(Attribute::parse_inner)?;
        let statements: TokenStream = body.parse()?;
        let future = result.clone().filter(is_future).and_then(|_| FutureBlock::at_end(&statements));
        let name = quote!(#word #name #generics);
        let function = Function {
            attributes,
            qualifiers,
            name,
            inputs,
            result,
            where_clause,
            inner,
            statements,
            future,
        };
        function.check()?;
        Ok(function)
    }
}

impl Parse for Input {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let written = input.fork();
        let attributes = input.call(Attribute::parse_outer)?;
        let pattern = up_to(input, |input| input.peek(Token![,]) || input.peek(Token![:]));
        if let Some(TokenTree::Ident(word)) = pattern.last().filter(|token| is_word(token, "self")) {
            tokens_up_to(input, |input| input.peek(Token![,]));
            let written = tokens_up_to(&written, |input| input.peek(Token![,]));
            return Ok(Input::Receiver { written, word: word.clone() });
        }
        input.parse::<Token![:]>()?;
        let kind = tokens_up_to(input, |input| input.peek(Token![,]));
        Ok(Input::Typed { attributes, pattern: pattern.into_iter().collect(), kind })
    }
}

/// The tokens before an end that is not in angle brackets.
fn up_to(input: ParseStream<'_>, is_end: impl Fn(ParseStream<'_>) -> bool) -> Vec<TokenTree> {
    let mut tokens: Vec<TokenTree> = Vec::new();
    let mut angles = 0_usize;
    while angles > 0 || input.peek(Token![::]) || !is_end(input) {
        // The second colon of two is not an end either.
        if input.peek(Token![::]) {
            tokens.extend(input.parse::<TokenTree>());
        }
        let Ok(token) = input.parse() else { break };
        let is_arrow = tokens.last().is_some_and(|before| is_sign(before, "-"));
        match &token {
            sign if is_sign(sign, "<") => angles += 1,
            sign if is_sign(sign, ">") && !is_arrow => angles = angles.saturating_sub(1),
            _ => {}
        }
        tokens.push(token);
    }
    tokens
}

fn tokens_up_to(input: ParseStream<'_>, is_end: impl Fn(ParseStream<'_>) -> bool) -> TokenStream {
    up_to(input, is_end).into_iter().collect()
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
    pub(super) receiver: Option<Ident>,
}

impl Function {
    /// Refuses functions that cannot be measured as one would expect.
    fn check(&self) -> syn::Result<()> {
        let Some(result) = &self.result else { return Ok(()) };
        let message = if !self.is_async() && is_future(result) {
            "only the creation of the future would be measured, not its run: make this an \
             `async fn`, or end it with `async move { … }` or `Box::pin(async move { … })`"
        } else if self.is_async_fn() && is_stream(result) {
            "only the creation of the stream would be measured, not its run: remove `async`, or put \
             `#[traced]` on a function that is called to make the stream"
        } else {
            return Ok(());
        };
        Err(syn::Error::new_spanned(result, message))
    }

    fn is_async_fn(&self) -> bool {
        self.qualifiers.iter().any(|token| is_word(token, "async"))
    }

    /// Whether it is an `async fn`, or returns the future of an `async` block at its end, as `#[async_trait]` has it.
    pub(super) fn is_async(&self) -> bool {
        self.is_async_fn() || self.future.is_some()
    }

    /// Whether it returns a stream.
    pub(super) fn is_stream(&self) -> bool {
        self.result.as_ref().is_some_and(is_stream)
    }

    /// Whether it returns a stream on the heap.
    pub(super) fn is_boxed_stream(&self) -> bool {
        self.result.as_ref().is_some_and(|result| is_stream(result) && !is_hidden(result))
    }

    /// The `async` block at the end of a function that is not `async` itself.
    pub(super) fn future_block(&self) -> Option<&FutureBlock> {
        self.future.as_ref().filter(|_| !self.is_async_fn())
    }

    /// The same function with another body.
    pub(super) fn with_block(&self, statements: &TokenStream) -> TokenStream {
        let inputs = self.inputs.iter().map(|input| match input {
            Input::Receiver { written, .. } => written.clone(),
            Input::Typed { attributes, pattern, kind } => quote!(#(#attributes)* #pattern: #kind),
        });
        self.with(&quote!(#(#inputs),*), false, statements)
    }

    /// The function with parameters that are names, which its body takes apart.
    pub(super) fn with_arguments(&self, statements: &TokenStream) -> TokenStream {
        self.with(&self.named_inputs(), false, statements)
    }

    /// An `async fn` as a function that returns its future.
    pub(super) fn returning_future(&self, statements: &TokenStream) -> TokenStream {
        self.with(&self.named_inputs(), true, statements)
    }

    fn with(&self, inputs: &TokenStream, returns_future: bool, statements: &TokenStream) -> TokenStream {
        let Function { attributes, name, where_clause, inner, result, .. } = self;
        let qualifiers = self.qualifiers.iter().filter(|token| !returns_future || !is_word(token, "async"));
        let result = match result {
            _ if returns_future => {
                let kind = self.kind_of_output();
                Some(quote!(-> impl ::core::future::Future<Output = #kind>))
            }
            result => result.as_ref().map(|kind| quote!(-> #kind)),
        };
        quote! {
            #(#attributes)*
            #(#qualifiers)* #name (#inputs) #result #where_clause {
                #(#inner)*
                #statements
            }
        }
    }

    fn named_inputs(&self) -> TokenStream {
        let mut arguments = self.parameters().arguments.into_iter();
        let inputs = self.inputs.iter().map(|input| match input {
            Input::Receiver { written, .. } => written.clone(),
            Input::Typed { kind, .. } => {
                let name = arguments.next();
                quote!(#name: #kind)
            }
        });
        quote!(#(#inputs),*)
    }

    /// The type of the result of an `async fn`.
    fn kind_of_output(&self) -> TokenStream {
        match &self.result {
            None => quote!(()),
            // The type that nothing has cannot be named there, but a function can.
            Some(kind) if kind.to_string() == "!" => {
                quote!(<fn() -> ! as ::lttng_provider::__private::Returns>::Output)
            }
            Some(kind) => kind.clone(),
        }
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
        self.attributes.iter().filter_map(first).any(|name| !KNOWN.contains(&name.as_str()))
    }

    /// The parameters as a function has them whose body takes them apart.
    pub(super) fn parameters(&self) -> Parameters {
        let mut parameters = Parameters::default();
        for (index, input) in self.inputs.iter().enumerate() {
            let (attributes, pattern) = match input {
                Input::Receiver { word, .. } => {
                    parameters.receiver = Some(word.clone());
                    continue;
                }
                Input::Typed { attributes, pattern, .. } => (attributes, pattern),
            };
            let name = name_alone(pattern.clone());
            // As the compiler does for an `async fn`.
            let argument =
                name.clone().unwrap_or_else(|| Ident::new(&format!("argument_{index}"), Span::mixed_site()));
            let whole = name.is_none().then(|| quote!(let #argument = #argument;));
            parameters.bindings.push(quote!(#whole #(#attributes)* let #pattern = #argument;));
            parameters.patterns.push(quote!(#(#attributes)* #pattern));
            parameters.arguments.push(argument);
        }
        parameters
    }

    /// The type of the result, if that can be written elsewhere.
    pub(super) fn output(&self) -> Option<TokenStream> {
        let kind = self.result.clone().unwrap_or_else(|| quote!(()));
        let kind = if self.future.is_some() { future::output(kind)? } else { kind };
        // A type with an `impl Trait` in it cannot be named.
        (!has_word(kind.clone(), "impl")).then_some(kind)
    }

    /// The parameter of this name, also within a pattern.
    pub(super) fn parameter(&self, name: &str) -> Option<Parameter> {
        self.inputs.iter().find_map(|input| {
            let Input::Typed { pattern, kind, .. } = input else { return None };
            let is_reference = name_alone(pattern.clone()).is_some() && is_shared_reference(kind);
            Some(Parameter { name: bound(pattern.clone(), name)?, is_reference })
        })
    }
}

/// The name of a pattern that is only a name.
fn name_alone(pattern: TokenStream) -> Option<Ident> {
    let mut tokens = pattern.into_iter().filter(|token| !is_word(token, "mut"));
    match (tokens.next(), tokens.next()) {
        (Some(TokenTree::Ident(name)), None) if name != "_" => Some(name),
        (Some(TokenTree::Group(group)), None) if group.delimiter() == Delimiter::None => {
            name_alone(group.stream())
        }
        _ => None,
    }
}

/// A name that a pattern binds: not that of a field, a variant or a part of a path.
fn bound(pattern: TokenStream, name: &str) -> Option<Ident> {
    let mut tokens = pattern.into_iter().peekable();
    let mut colons = 0;
    while let Some(token) = tokens.next() {
        let found = match &token {
            TokenTree::Group(group) => bound(group.stream(), name),
            TokenTree::Ident(word) if word == name && colons < 2 => {
                let names_other = tokens.peek().is_some_and(|next| {
                    is_sign(next, ":!")
                        || matches!(next, TokenTree::Group(group) if group.delimiter() != Delimiter::None)
                });
                (!names_other).then(|| word.clone())
            }
            _ => None,
        };
        if found.is_some() {
            return found;
        }
        colons = if is_sign(&token, ":") { colons + 1 } else { 0 };
    }
    None
}

/// `&T`, and not `&mut T`
fn is_shared_reference(kind: &TokenStream) -> bool {
    let mut tokens = kind.clone().into_iter();
    let is_reference = tokens.next().is_some_and(|token| is_sign(&token, "&"));
    let mut rest = tokens.peekable();
    // A lifetime is a sign and a word.
    if rest.next_if(|token| is_sign(token, "'")).is_some() {
        rest.next();
    }
    is_reference && !rest.peek().is_some_and(|token| is_word(token, "mut"))
}
