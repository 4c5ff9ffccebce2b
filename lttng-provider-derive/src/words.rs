//! What can be said of code by its words alone. `syn` has trees of all of Rust's grammar, which take long to compile.

use proc_macro2::{TokenStream, TokenTree};

/// Whether a word occurs.
pub(crate) fn has_word(tokens: TokenStream, name: &str) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(word) => word == name,
        TokenTree::Group(group) => has_word(group.stream(), name),
        _ => false,
    })
}

/// Whether a token is this word.
pub(crate) fn is_word(token: &TokenTree, name: &str) -> bool {
    matches!(token, TokenTree::Ident(word) if word == name)
}

/// Whether a token is one of some signs.
pub(crate) fn is_sign(token: &TokenTree, signs: &str) -> bool {
    matches!(token, TokenTree::Punct(sign) if signs.contains(sign.as_char()))
}
