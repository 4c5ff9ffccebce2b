//! Glob patterns of KEYS, SCAN and CONFIG GET: `*`, `?`, `[a-z]`, `[^a]` and `\` to quote.

/// Whether `text` as a whole matches `pattern`.
///
/// Only the last `*` is ever retried, so the time is at most the product of both lengths.
pub fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while t < text.len() {
        if pattern.get(p) == Some(&b'*') {
            p += 1;
            retry = Some((p, t));
        } else if let Some(length) = matches_one(&pattern[p..], text[t]) {
            p += length;
            t += 1;
        } else if let Some((after_star, from)) = retry {
            (p, t) = (after_star, from + 1);
            retry = Some((after_star, t));
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|&byte| byte == b'*')
}

/// If the pattern's first item matches `byte`: the item's length.
fn matches_one(pattern: &[u8], byte: u8) -> Option<usize> {
    match *pattern {
        [] => None,
        [b'?', ..] => Some(1),
        [b'\\', quoted, ..] => (quoted == byte).then_some(2),
        [b'[', ref class @ ..] => {
            let (matched, length) = matches_class(class, byte);
            matched.then_some(1 + length)
        }
        [plain, ..] => (plain == byte).then_some(1),
    }
}

/// Whether a class (what follows `[`) holds `byte`, and its length up to and with the `]`.
fn matches_class(class: &[u8], byte: u8) -> (bool, usize) {
    let negated = class.first() == Some(&b'^');
    let mut at = usize::from(negated);
    let mut found = false;
    loop {
        match class[at..] {
            [] => break,
            [b']', ..] => {
                at += 1;
                break;
            }
            [b'\\', quoted, ..] => {
                found |= quoted == byte;
                at += 2;
            }
            [from, b'-', to, ..] if to != b']' => {
                found |= (from.min(to)..=from.max(to)).contains(&byte);
                at += 3;
            }
            [single, ..] => {
                found |= single == byte;
                at += 1;
            }
        }
    }
    (found != negated, at)
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns_match_whole_texts_only() {
        for (pattern, text) in
            [("*", ""), ("key:*", "key:12"), ("a?c", "abc"), ("[a-c]x", "bx"), ("[^a]x", "bx"), ("\\*", "*")]
        {
            assert!(matches(pattern.as_bytes(), text.as_bytes()), "{pattern} {text}");
        }
        for (pattern, text) in
            [("", "a"), ("key", "key1"), ("a?c", "ac"), ("[a-c]x", "dx"), ("\\*", "a"), ("[", "[")]
        {
            assert!(!matches(pattern.as_bytes(), text.as_bytes()), "{pattern} {text}");
        }
    }

    #[test]
    fn many_stars_do_not_take_exponential_time() {
        assert!(!matches(&b"*a".repeat(40), &b"b".repeat(4000)));
    }
}
