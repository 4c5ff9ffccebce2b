//! Types that are futures and streams, and the `async` block that a function ends with.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::quote;

use crate::words::{has_word, is_sign, is_word};

/// `async move { … }` or `Box::pin(async move { … })` at the end of a function.
pub(super) struct FutureBlock {
    /// The statements before it.
    pub(super) before: TokenStream,
    /// `Box::pin`, if it is called.
    function: TokenStream,
    pub(super) block: TokenStream,
}

impl FutureBlock {
    pub(super) fn at_end(statements: &TokenStream) -> Option<FutureBlock> {
        let tokens: Vec<TokenTree> = statements.clone().into_iter().collect();
        let (start, function, block) = match tokens.last()? {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis => {
                let is_path = |token: &TokenTree| is_sign(token, ":") || is_name(token);
                let end = tokens.len() - 1;
                let start =
                    tokens[..end].iter().rposition(|token| !is_path(token)).map_or(0, |before| before + 1);
                let [.., class, _, _, name] = &tokens[start..end] else { return None };
                let mut argument: Vec<TokenTree> = group.stream().into_iter().collect();
                if argument.last().is_some_and(|token| is_sign(token, ",")) {
                    argument.pop();
                }
                let is_box_pin =
                    is_word(class, "Box") && is_word(name, "pin") && async_block(&argument) == Some(0);
                is_box_pin.then(|| (start, &tokens[start..end], argument))?
            }
            _ => {
                let start = async_block(&tokens)?;
                (start, &[][..], tokens[start..].to_vec())
            }
        };
        // It is a statement: not `return async {}` or part of another expression.
        let is_statement = match tokens[..start].last() {
            None => true,
            Some(TokenTree::Group(group)) => group.delimiter() == Delimiter::Brace,
            Some(token) => is_sign(token, ";"),
        };
        is_statement.then(|| FutureBlock {
            before: tokens[..start].iter().cloned().collect(),
            function: function.iter().cloned().collect(),
            block: block.into_iter().collect(),
        })
    }

    /// Another future in its place.
    pub(super) fn replaced(&self, future: TokenStream) -> TokenStream {
        let function = &self.function;
        if function.is_empty() { future } else { quote!(#function(#future)) }
    }
}

/// Where `async { … }` or `async move { … }` at the end begins.
fn async_block(tokens: &[TokenTree]) -> Option<usize> {
    let start = tokens.iter().rposition(|token| is_word(token, "async"))?;
    match &tokens[start + 1..] {
        [TokenTree::Group(block)] if block.delimiter() == Delimiter::Brace => Some(start),
        [word, TokenTree::Group(block)] if is_word(word, "move") && block.delimiter() == Delimiter::Brace => {
            Some(start)
        }
        _ => None,
    }
}

fn is_name(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Ident(word) if word != "return")
}

/// The type that a future has as its `Output`.
pub(super) fn output(kind: TokenStream) -> Option<TokenStream> {
    let mut rest = kind.into_iter();
    while let Some(token) = rest.next() {
        match token {
            TokenTree::Group(group) => {
                if let Some(found) = output(group.stream()) {
                    return Some(found);
                }
            }
            word if is_word(&word, "Output") => {
                rest.next().filter(|token| is_sign(token, "="))?;
                return Some(first_type(rest));
            }
            _ => {}
        }
    }
    None
}

/// The tokens before a comma or a bracket that closes.
fn first_type(tokens: impl Iterator<Item = TokenTree>) -> TokenStream {
    let mut angles = 0;
    let mut after_dash = false;
    let is_in_type = |token: &TokenTree| {
        let is_end = angles == 0 && is_sign(token, ",>") && !after_dash;
        angles += i32::from(is_sign(token, "<")) - i32::from(is_sign(token, ">") && !after_dash);
        after_dash = is_sign(token, "-");
        !is_end
    };
    tokens.take_while(is_in_type).collect()
}

/// Whether a type is `impl Future`, or a pointer to `dyn Future` as `async_trait` makes it.
pub(super) fn is_future(kind: &TokenStream) -> bool {
    hides(kind, &["Future", "BoxFuture", "LocalBoxFuture"])
}

/// Whether a type is `impl Stream` or a pointer to `dyn Stream`, and not a type that is called so.
pub(super) fn is_stream(kind: &TokenStream) -> bool {
    let is_trait = is_hidden(kind) || hides(kind, &["dyn"]);
    hides(kind, &["BoxStream", "LocalBoxStream"]) || (is_trait && hides(kind, &["Stream"]))
}

/// Whether a type is `impl Trait`.
pub(super) fn is_hidden(kind: &TokenStream) -> bool {
    kind.clone().into_iter().next().is_some_and(|token| is_word(&token, "impl"))
}

/// Whether a type that hides what it is made of, `impl Trait` or a path, has one of these words in it.
fn hides(kind: &TokenStream, wanted: &[&str]) -> bool {
    let is_path = match kind.clone().into_iter().next() {
        Some(TokenTree::Ident(word)) => {
            !["dyn", "extern", "fn", "for", "unsafe"].iter().any(|other| word == other)
        }
        Some(token) => is_sign(&token, ":<"),
        None => false,
    };
    is_path && wanted.iter().any(|word| has_word(kind.clone(), word))
}
