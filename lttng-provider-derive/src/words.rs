//! What can be said of code by its words alone. `syn` can visit its trees, but each visitor is compiled for all of Rust's grammar.

use proc_macro2::{TokenStream, TokenTree};

/// Whether a word occurs.
pub(crate) fn has_word(tokens: TokenStream, name: &str) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(word) => word == name,
        TokenTree::Group(group) => has_word(group.stream(), name),
        _ => false,
    })
}
