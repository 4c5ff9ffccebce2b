//! Calls of macros in a list of tokens: `NAME(ARGUMENT, …)`.

use super::lex::{Kind, Token};

/// Tokens with the index of the closing parenthesis for each opening one, found in one pass.
pub struct Calls<'a, 't> {
    pub tokens: &'a [Token<'t>],
    closing: Vec<Option<usize>>,
}

/// A call of a macro.
#[derive(Clone, Debug)]
pub struct Call<'t> {
    pub name: Token<'t>,
    pub arguments: Vec<Range>,
    /// The index of the token after it.
    pub end: usize,
}

/// A part of the tokens, by index.
pub type Range = std::ops::Range<usize>;

impl<'a, 't> Calls<'a, 't> {
    pub fn new(tokens: &'a [Token<'t>]) -> Self {
        let closing = closing(tokens);
        Calls { tokens, closing }
    }

    /// The call that begins at a token: `None` if none does, an error if its parenthesis is not closed.
    pub fn at(&self, index: usize, end: usize) -> Option<Result<Call<'t>, Token<'t>>> {
        let name = *self.tokens.get(index).filter(|token| index < end && token.kind == Kind::Word)?;
        let open = index + 1;
        self.tokens.get(open).filter(|token| open < end && token.is("("))?;
        let Some(close) = self.closing[open].filter(|close| *close < end) else { return Some(Err(name)) };
        Some(Ok(Call { name, arguments: self.split(open + 1..close), end: close + 1 }))
    }

    /// Splits at the commas outside parentheses. An empty range has no arguments.
    fn split(&self, range: Range) -> Vec<Range> {
        if range.is_empty() {
            return Vec::new();
        }
        let (mut parts, mut start, mut at) = (Vec::new(), range.start, range.start);
        while at < range.end {
            if self.tokens[at].is("(") {
                // Its closing parenthesis is in the range, because the range is within parentheses.
                at = self.closing[at].map_or(range.end, |close| close + 1);
                continue;
            }
            if self.tokens[at].is(",") {
                parts.push(start..at);
                start = at + 1;
            }
            at += 1;
        }
        parts.push(start..range.end);
        parts
    }

    pub fn slice(&self, range: &Range) -> &'a [Token<'t>] {
        &self.tokens[range.clone()]
    }
}

/// For each opening parenthesis, the index of the closing one.
fn closing(tokens: &[Token<'_>]) -> Vec<Option<usize>> {
    let mut closing = vec![None; tokens.len()];
    let mut open = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        if token.is("(") {
            open.push(index);
        } else if let Some(start) = token.is(")").then(|| open.pop()).flatten() {
            closing[start] = Some(index);
        }
    }
    closing
}
