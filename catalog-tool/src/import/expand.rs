//! Expands macros that a file defines and uses.
//!
//! LTTng's macros stay, because the import reads them.

use std::cell::OnceCell;
use std::collections::HashMap;

use super::c_type::spell;
use super::calls::Calls;
use super::lex::{Definition, Kind, Token};
use super::problem::Problem;

/// More tokens than any header expands to.
const MOST_TOKENS: usize = 2_000_000;
/// A deeper nesting of macros than any header has.
const DEEPEST: usize = 32;

/// More texts than any header makes with `#` and `##`.
const MOST_PASTED: usize = 10_000;

/// The texts that `#` and `##` make, which are in no file. A list, so that they stay where they are.
#[derive(Default)]
pub struct Pasted {
    text: OnceCell<String>,
    next: OnceCell<Box<Pasted>>,
}

/// Replaces macros in the order of the file: a definition holds from its line on, those `before` it everywhere.
pub fn expand<'t>(
    tokens: &[Token<'t>],
    before: &[Definition<'t>],
    definitions: &[Definition<'t>],
    pasted: &'t Pasted,
) -> Result<Vec<Token<'t>>, Problem> {
    let known = before.iter().map(|definition| (definition.name.text, definition)).collect();
    let mut expander = Expander { known, left: MOST_TOKENS, pasted, pastes: 0 };
    let mut definitions = definitions.iter().peekable();
    let calls = Calls::new(tokens);
    let (mut expanded, mut at) = (Vec::with_capacity(tokens.len()), 0);
    while at < tokens.len() {
        let token = tokens[at];
        while let Some(definition) = definitions.next_if(|definition| definition.name.offset < token.offset) {
            if !is_of_lttng(definition.name.text) {
                expander.known.insert(definition.name.text, definition);
            }
        }
        at = expander.step(&calls, at, token, &mut Vec::new(), &mut expanded)?;
    }
    Ok(expanded)
}

struct Expander<'d, 't> {
    known: HashMap<&'t str, &'d Definition<'t>>,
    left: usize,
    /// Where the next text goes.
    pasted: &'t Pasted,
    pastes: usize,
}

impl<'t> Expander<'_, 't> {
    /// Takes the token at `at`, with its arguments if it is a macro, and returns the index of the next.
    ///
    /// The tokens of an expansion have the position of the macro's use, `site`.
    fn step(
        &mut self,
        calls: &Calls<'_, 't>,
        at: usize,
        site: Token<'t>,
        within: &mut Vec<&'t str>,
        expanded: &mut Vec<Token<'t>>,
    ) -> Result<usize, Problem> {
        let token = calls.tokens[at];
        let Some((body, end)) = self.replacement(calls, at, within) else {
            self.spend(1, site)?;
            expanded.push(Token { line: site.line, offset: site.offset, ..token });
            return Ok(at + 1);
        };
        self.spend(1 + body.len(), site)?;
        within.push(token.text);
        let (body, mut next) = (Calls::new(&body), 0);
        while next < body.tokens.len() {
            next = self.step(&body, next, site, within, expanded)?;
        }
        within.pop();
        Ok(end)
    }

    /// The expansion of the macro at an index, and the index after it. A macro within itself is not expanded.
    fn replacement(
        &mut self,
        calls: &Calls<'_, 't>,
        at: usize,
        within: &[&'t str],
    ) -> Option<(Vec<Token<'t>>, usize)> {
        let name = calls.tokens[at].text;
        let definition =
            *self.known.get(name).filter(|_| !within.contains(&name) && within.len() < DEEPEST)?;
        let Some(parameters) = &definition.parameters else { return Some((definition.body.clone(), at + 1)) };
        let call = calls.at(at, calls.tokens.len())?.ok()?;
        let argument = |name: &str| {
            let index = parameters.iter().position(|parameter| *parameter == name)?;
            let Some(first) = call.arguments.get(index).cloned() else { return Some(0..0) };
            let last = call.arguments.last().filter(|last| name == "__VA_ARGS__" && last.end > first.start);
            Some(first.start..last.map_or(first.end, |last| last.end))
        };
        let mut body: Vec<Token<'t>> = Vec::new();
        let (mut rest, mut joins) = (&definition.body[..], false);
        while let [part, after @ ..] = rest {
            let named = after.first().filter(|_| part.is("#")).and_then(|next| argument(next.text));
            let piece: Vec<Token<'t>> = match (part.is("#"), after.first()) {
                (true, Some(next)) if next.is("#") => {
                    joins = true;
                    rest = &after[1..];
                    continue;
                }
                (true, Some(_)) if named.is_some() => {
                    rest = &after[1..];
                    let text = spell(calls.slice(&named.unwrap_or_default()));
                    let text = format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
                    vec![Token { kind: Kind::Text, text: self.paste(text)?, ..*part }]
                }
                _ => {
                    rest = after;
                    argument(part.text).map_or_else(|| vec![*part], |range| calls.slice(&range).to_vec())
                }
            };
            let mut piece = piece.into_iter();
            match body.last_mut().filter(|_| std::mem::take(&mut joins)) {
                // `, ## __VA_ARGS__` without arguments has no comma.
                Some(last) if last.is(",") && piece.len() == 0 => _ = body.pop(),
                Some(last) if last.is(",") => {}
                Some(last) => {
                    if let Some(first) = piece.next() {
                        last.text = self.paste(format!("{}{}", last.text, first.text))?;
                    }
                }
                None => {}
            }
            body.extend(piece);
            // The caller refuses what exceeds the rest.
            if body.len() > self.left {
                break;
            }
        }
        Some((body, call.end))
    }

    /// Keeps a text; `None`, and the macro stays as it is, if there are too many.
    fn paste(&mut self, text: String) -> Option<&'t str> {
        self.pastes += 1;
        let here = self.pasted;
        (self.pastes <= MOST_PASTED).then(|| {
            self.pasted = here.next.get_or_init(Box::default);
            here.text.get_or_init(|| text).as_str()
        })
    }

    fn spend(&mut self, tokens: usize, site: Token<'t>) -> Result<(), Problem> {
        let message = || format!("`{}` expands to more than {MOST_TOKENS} tokens", site.text);
        self.left = self.left.checked_sub(tokens).ok_or_else(|| Problem::new(site.line, message()))?;
        Ok(())
    }
}

/// Whether the import reads this macro itself; applications may define it as empty for builds without LTTng.
fn is_of_lttng(name: &str) -> bool {
    let names_a_provider = name.ends_with("TRACEPOINT_PROVIDER");
    let prefixes = ["TRACEPOINT_", "LTTNG_UST_", "TP_", "ctf_", "lttng_ust_"];
    !names_a_provider && prefixes.iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::super::lex::lex;
    use super::*;

    fn expanded(text: &str) -> String {
        let (source, _) = lex(text);
        let pasted = Pasted::default();
        match expand(&source.tokens, &[], &source.definitions, &pasted) {
            Ok(tokens) => tokens.iter().map(|token| token.text).collect::<Vec<_>>().join(" "),
            Err(problem) => problem.message,
        }
    }

    #[test]
    fn macros_with_and_without_parameters_are_replaced() {
        assert_eq!(expanded("#define A int, a\nf(A)"), "f ( int , a )");
        assert_eq!(expanded("#define F(x, y) y x\nF(1 (2, 3), 4) F"), "4 1 ( 2 , 3 ) F");
        assert_eq!(expanded("#define F(...) g(__VA_ARGS__)\nF(1, 2)"), "g ( 1 , 2 )");
        assert_eq!(expanded("#define A B\n#define B 1\nA"), "1");
        assert_eq!(expanded("#define E()\na E() b"), "a b");
    }

    #[test]
    fn tokens_are_pasted_and_made_texts() {
        assert_eq!(expanded("#define N(a) the_##a##_x\nN(price)"), "the_price_x");
        assert_eq!(expanded("#define S(a) f(#a, a)\nS(x + \"y\")"), r#"f ( "x + \"y\"" , x + "y" )"#);
        assert_eq!(expanded("#define F(a, ...) g(a, ##__VA_ARGS__)\nF(1) F(1, 2)"), "g ( 1 ) g ( 1 , 2 )");
        assert_eq!(expanded("#define C(a, b) a ## b\n#define AB 7\nC(A, B)"), "7");
    }

    #[test]
    fn a_definition_holds_from_its_line_on() {
        assert_eq!(expanded("A\n#define A 1\nA\n#define A 2\nA"), "A 1 2");
    }

    #[test]
    fn macros_do_not_expand_for_ever() {
        assert_eq!(expanded("#define A A B\n#define B A\nA"), "A A");
        let doubled: String = (0..40).map(|n| format!("#define A{} A{n} A{n}\n", n + 1)).collect();
        assert!(expanded(&format!("{doubled}A30")).contains("expands to more than"));
    }

    #[test]
    fn the_macros_of_lttng_stay() {
        assert_eq!(expanded("#define TRACEPOINT_EVENT(...)\nTRACEPOINT_EVENT(a)"), "TRACEPOINT_EVENT ( a )");
        assert_eq!(expanded("#define TRACEPOINT_PROVIDER shop\nTRACEPOINT_PROVIDER"), "shop");
    }
}
