//! Statements that cannot be understood, skipped without tokens: their tokens may be what is wrong.

use memchr::memchr_iter;

use super::lex::{BLOCKS, Lexer, TYPES, is_part_of_word, table};

impl Lexer<'_> {
    /// Skips the statement that begins here, which may be broken: to its `;` outside of any braces, or to where another
    /// statement obviously begins. Returns whether that was found before the text's end.
    pub fn skip_statement(&mut self) -> bool {
        let bytes = self.text.as_bytes();
        let start = self.at;
        // Also where its `{` is what is wrong, a block does not end before a `}`.
        let is_block = BLOCKS.into_iter().any(|keyword| begins_with(&bytes[start..], keyword));
        let mut is_closed = !is_block;
        let mut depth = 0_usize;
        loop {
            let rest = self.rest();
            let plain = rest.iter().position(|&byte| ENDS_PLAIN[usize::from(byte)]).unwrap_or(rest.len());
            self.at += plain;
            let Some(&byte) = bytes.get(self.at) else { return false };
            match byte {
                b'{' => {
                    if let Some(block) = block_before(bytes, self.at).filter(|&block| block > start) {
                        self.line -= memchr_iter(b'\n', &bytes[block..self.at]).count();
                        self.at = block;
                        return true;
                    }
                    depth += 1;
                }
                b'}' => {
                    depth = depth.saturating_sub(1);
                    is_closed |= depth == 0;
                }
                b';' if depth == 0 && is_closed => {
                    self.at += 1;
                    return true;
                }
                b'\n' => {
                    self.line += 1;
                    let next = &bytes[self.at + 1..];
                    if TYPES.into_iter().any(|keyword| begins_with(next, keyword)) {
                        self.at += 1;
                        return true;
                    }
                }
                b'/' if self.skip_comment() => continue,
                b'"' | b'\'' => {
                    self.skip_quoted(byte);
                    continue;
                }
                _ => {}
            }
            self.at += 1;
        }
    }

    /// Skips a string, or the rest of the line if it is not closed there.
    fn skip_quoted(&mut self, quote: u8) {
        self.at += 1;
        loop {
            let rest = self.rest();
            let special = |&byte: &u8| byte == quote || matches!(byte, b'\\' | b'\n');
            let end = rest.iter().position(special).unwrap_or(rest.len());
            self.at += end;
            match rest.get(end..) {
                Some([b'\\', next, ..]) => {
                    self.at += 2;
                    self.line += usize::from(*next == b'\n');
                }
                Some([byte, ..]) if *byte != b'\n' => {
                    self.at += 1;
                    if *byte == quote {
                        return;
                    }
                }
                _ => return,
            }
        }
    }
}

/// The bytes that matter to where a statement ends.
static ENDS_PLAIN: [bool; 256] = table(b"{};\n/\"'");

/// Whether a text begins with this very word.
fn begins_with(text: &[u8], word: &str) -> bool {
    text.strip_prefix(word.as_bytes())
        .is_some_and(|rest| !rest.first().is_some_and(|&byte| is_part_of_word(byte)))
}

/// The position of the keyword of a block, if one is right before this position.
fn block_before(bytes: &[u8], at: usize) -> Option<usize> {
    let end = bytes[..at].trim_ascii_end().len();
    BLOCKS.into_iter().find_map(|keyword| {
        let start = end.checked_sub(keyword.len())?;
        let is_separate = start == 0 || !is_part_of_word(bytes[start - 1]);
        (is_separate && &bytes[start..end] == keyword.as_bytes()).then_some(start)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statement_ends_at_its_semicolon_or_where_another_begins() {
        let skipped = |text: &str| {
            let mut lexer = Lexer::new(text);
            let found = lexer.skip_statement();
            assert_eq!(lexer.line, 1 + text[..lexer.at].matches('\n').count(), "{text:?}");
            (text[lexer.at..].to_owned(), found)
        };
        let found = |rest: &str| (rest.to_owned(), true);
        assert_eq!(skipped("a { b; /* } */ \"};\" '}' }; c"), found(" c"));
        assert_eq!(skipped("event [ a; b; } ; c"), found(" c"));
        assert_eq!(skipped("event { a { ; \n event \n { }"), found("event \n { }"));
        assert_eq!(skipped("event { \"a };\n b event {"), found("event {"));
        assert_eq!(skipped("a = { \ntypealias b"), found("typealias b"));
        assert_eq!(skipped("a = { \n typealias b \ntypealiases"), ("".into(), false));
        assert_eq!(skipped("a /* b"), ("".into(), false));
    }
}
