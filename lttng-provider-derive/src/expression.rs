//! An expression as its tokens. `syn` can parse them, but all of Rust's grammar takes as long to compile as the rest of
//! `syn`, and the compiler parses them anyway.

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::{Lit, Token};

use crate::words::{is_sign, is_word};

/// What is before the next comma.
#[derive(Clone)]
pub(crate) struct Expression(TokenStream);

impl Parse for Expression {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut tokens: Vec<TokenTree> = Vec::new();
        // Of `a::<B, C>()` and `<A as B<C, D>>::e()`; elsewhere `<` compares.
        let mut angles = 0;
        while !input.is_empty() && (angles > 0 || !input.peek(Token![,])) {
            let token: TokenTree = input.parse()?;
            let before = tokens.last();
            match &token {
                sign if is_sign(sign, "<") => {
                    // The second sign of `<<` is after the first.
                    let opens = before
                        .is_none_or(|before| matches!(before, TokenTree::Punct(_)) && !is_sign(before, "<?"));
                    angles += usize::from(angles > 0 || opens);
                }
                sign if is_sign(sign, ">")
                    && angles > 0
                    && !before.is_some_and(|before| is_sign(before, "-=")) =>
                {
                    angles -= 1;
                }
                _ => {}
            }
            tokens.push(token);
        }
        if tokens.is_empty() {
            return Err(input.error("expected an expression"));
        }
        Ok(Expression(tokens.into_iter().collect()))
    }
}

impl From<TokenStream> for Expression {
    fn from(tokens: TokenStream) -> Self {
        Expression(tokens)
    }
}

impl ToTokens for Expression {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend(self.0.clone());
    }
}

impl Expression {
    /// Where the compiler points at for it.
    pub(crate) fn span(&self) -> Span {
        self.0.clone().into_iter().next().map_or_else(Span::call_site, |token| token.span())
    }

    /// Whether it is a literal text, which is a reference.
    pub(crate) fn is_text(&self) -> bool {
        matches!(syn::parse2(self.0.clone()), Ok(Lit::Str(_) | Lit::ByteStr(_) | Lit::CStr(_)))
    }

    /// `&expression`, with parentheses only where they are needed: the compiler's errors would point at their beginning
    /// only.
    pub(crate) fn reference(&self) -> TokenStream {
        let (span, expression) = (self.span(), &self.0);
        match has_operator(expression) {
            true => quote_spanned!(span=> &(#expression)),
            false => quote_spanned!(span=> &#expression),
        }
    }

    /// Whether all that decides its type is numbers without a suffix, such as `3`, `1 + 2` and `if a { 1 } else { 2 }`.
    pub(crate) fn is_bare_number(&self) -> bool {
        is_bare_number(self.0.clone())
    }
}

/// Whether there may be an operator that binds less than `&`: a sign after an operand. Generics may be taken for one.
fn has_operator(expression: &TokenStream) -> bool {
    let tokens: Vec<TokenTree> = expression.clone().into_iter().collect();
    // What a `macro_rules!` passes on is in a group that the compiler may lose.
    let is_hidden = |token: &TokenTree| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::None && has_operator(&group.stream()),
        _ => false,
    };
    tokens.iter().any(is_hidden)
        || tokens.windows(2).any(|pair| {
            let after_operand = !matches!(pair[0], TokenTree::Punct(_)) || is_sign(&pair[0], "?");
            let is_range = is_sign(&pair[0], ".") && is_sign(&pair[1], ".");
            is_range
                || is_word(&pair[1], "as")
                || (after_operand && is_sign(&pair[1], "+-*/%^&|=<>"))
                || (is_sign(&pair[0], "!") && is_sign(&pair[1], "="))
        })
}

fn is_bare_number(expression: TokenStream) -> bool {
    let mut tokens = expression.into_iter().peekable();
    loop {
        // An operand.
        let is_bare = match tokens.next() {
            Some(TokenTree::Punct(sign)) if "-!".contains(sign.as_char()) => continue,
            Some(TokenTree::Literal(literal)) => match Lit::new(literal) {
                Lit::Int(number) => number.suffix().is_empty(),
                Lit::Float(number) => number.suffix().is_empty(),
                _ => false,
            },
            Some(TokenTree::Group(group)) => is_bare_group(&group),
            Some(TokenTree::Ident(word)) if word == "if" => {
                // The condition may have blocks and patterns with braces in it.
                let mut branch = None;
                while !tokens.peek().is_some_and(|token| is_word(token, "else")) {
                    let Some(token) = tokens.next() else { return false };
                    branch = block(token);
                }
                tokens.next();
                match branch.is_some_and(|branch| is_bare_group(&branch)) {
                    true => continue,
                    false => false,
                }
            }
            Some(TokenTree::Ident(word)) if word == "match" => {
                tokens.by_ref().find_map(block).is_some_and(|arms| has_bare_arms(arms.stream()))
            }
            _ => false,
        };
        // The operator after it.
        match tokens.next() {
            _ if !is_bare => return false,
            None => return true,
            Some(TokenTree::Punct(sign)) if "<>".contains(sign.as_char()) => {
                // The type of a number that is shifted does not depend on by how much; else it is compared.
                if !tokens.next().is_some_and(|token| is_sign(&token, &sign.to_string())) {
                    return false;
                }
                if tokens.by_ref().find(|token| is_sign(token, "&|^")).is_none() {
                    return true;
                }
            }
            Some(TokenTree::Punct(sign)) if "+-*/%&|^".contains(sign.as_char()) => {}
            Some(_) => return false,
        }
    }
}

/// `{ … }`
fn block(token: TokenTree) -> Option<Group> {
    match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(group),
        _ => None,
    }
}

/// Whether a group is a number: `(3)`, or a block that ends in one.
fn is_bare_group(group: &Group) -> bool {
    match group.delimiter() {
        Delimiter::Bracket => false,
        Delimiter::Brace => is_bare_number(last(group.stream(), ";")),
        _ => is_bare_number(group.stream()),
    }
}

/// What is after the last of some signs.
fn last(tokens: TokenStream, signs: &str) -> TokenStream {
    let mut tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let start = tokens.iter().rposition(|token| is_sign(token, signs)).map_or(0, |position| position + 1);
    tokens.split_off(start).into_iter().collect()
}

/// Whether each arm of a `match` is a number.
fn has_bare_arms(arms: TokenStream) -> bool {
    let mut tokens = arms.into_iter().peekable();
    let mut any = false;
    while let Some(token) = tokens.next() {
        if !is_sign(&token, "=") || tokens.next_if(|token| is_sign(token, ">")).is_none() {
            continue;
        }
        let mut body = TokenStream::new();
        while let Some(token) = tokens.next_if(|token| !is_sign(token, ",")) {
            // A block needs no comma after it.
            let is_block = body.is_empty() && block(token.clone()).is_some();
            body.extend([token]);
            if is_block {
                break;
            }
        }
        any = true;
        if !is_bare_number(body) {
            return false;
        }
    }
    any
}

#[cfg(test)]
mod tests {
    use quote::ToTokens;
    use syn::parse::Parser;
    use syn::punctuated::Punctuated;

    use super::*;

    #[test]
    fn expressions_end_at_commas_outside_of_generics() {
        for (text, count) in [
            ("a, b", 2),
            ("f::<A, B>(c), d", 2),
            ("<A as B<C, D>>::e(), f", 2),
            ("a < b, c > d", 2),
            ("1 << 2, 3 >> 4", 2),
            ("f::<fn(A) -> B, C>(), -<A>::b()", 2),
            ("if a { 1 } else { 2 }, match b { C => 1, _ => 2 }", 2),
            ("g(|a, b| a), [c, d]", 2),
        ] {
            let parse = Punctuated::<Expression, Token![,]>::parse_terminated;
            let found = parse.parse_str(text).unwrap();
            assert_eq!(found.len(), count, "{text}: {}", found.to_token_stream());
        }
    }

    #[test]
    fn type_of_bare_numbers_depends_on_the_context() {
        for text in [
            "3",
            "-1.5",
            "1 + 2 * (3)",
            "!0 << width",
            "1 << width | 2",
            "{ call(); 3 }",
            "if a { 1 } else if let B { c } = d() { call(); 2 } else { 3 } + 1",
            "match a { B(c) if c => 1, D { e } => { 2 } _ => if e { 3 } else { 4 }, }",
        ] {
            assert!(parsed(text).is_bare_number(), "{text}");
        }
        for text in [
            "3_u8",
            "a",
            "1 + a",
            "1 << width | a",
            "1 < 2",
            "1 == 2",
            "3 as u8",
            "3.max(4)",
            "{ 1; }",
            "if a { 1 } else { b }",
            "match a { B => 1, C => d }",
            "match a {}",
            "'c'",
            "[1]",
        ] {
            assert!(!parsed(text).is_bare_number(), "{text}");
        }
    }

    #[test]
    fn only_operators_are_put_in_parentheses() {
        for text in ["a", "a.b.c()?", "*a", "-a", "&a", "!a", "f!(a)", "f(a + b)", "a[0]", "\"text\""] {
            assert!(!has_operator(&parsed(text).0), "{text}");
        }
        for text in ["a + b", "a as u8", "a? - b", "a == b", "a != b", "a..b", "a && b", "a < b"] {
            assert!(has_operator(&parsed(text).0), "{text}");
        }
    }

    fn parsed(text: &str) -> Expression {
        syn::parse_str(text).unwrap()
    }
}
