//! A filter as it is typed: conditions separated by spaces, with spaces in them.

use ltt_analysis::filter::Condition;

/// The characters that operators consist of.
const OPERATORS: [char; 5] = ['!', '=', '<', '>', '~'];

/// Reads conditions such as `duration > 1 ms name=get addr="a b=c"`.
///
/// A word with an operator begins a condition, as does one that an operator follows; any other word belongs to the value
/// before it. Quotes keep a value with an operator in it together.
pub fn parse(text: &str) -> Result<Vec<Condition>, String> {
    let words = words(text);
    let mut conditions: Vec<String> = Vec::new();
    for (place, (word, is_quoted)) in words.iter().enumerate() {
        let is_operator = |word: &str| word.starts_with(OPERATORS);
        let is_followed = words.get(place + 1).is_some_and(|(next, quoted)| !quoted && is_operator(next));
        let begins = !is_quoted && !is_operator(word) && (word.contains(OPERATORS) || is_followed);
        match conditions.last_mut() {
            Some(last) if !begins => {
                // The value may follow the operator after a space.
                if !last.ends_with(OPERATORS) && !is_operator(word) {
                    last.push(' ');
                }
                last.push_str(word);
            }
            _ => conditions.push(word.clone()),
        }
    }
    conditions.iter().map(|condition| condition.parse()).collect()
}

/// A condition as it can be typed.
pub fn typed(condition: &Condition) -> String {
    let given = condition.given.trim_start_matches("--where ");
    let (head, value) = given.split_at(given.len() - condition.operand().len());
    let is_plain = !value.contains([' ', '"']) && !value.contains(OPERATORS);
    if is_plain { given.to_owned() } else { format!("{head}\"{}\"", value.replace('"', "\"\"")) }
}

/// The words of a text, and whether they begin with a quote. Within quotes, two quotes are one.
fn words(text: &str) -> Vec<(String, bool)> {
    let mut words: Vec<(String, bool)> = Vec::new();
    let (mut is_within, mut is_new) = (false, true);
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        if character == ' ' && !is_within {
            is_new = true;
            continue;
        }
        if std::mem::take(&mut is_new) {
            words.push((String::new(), character == '"'));
        }
        let is_escaped = is_within && character == '"' && characters.next_if_eq(&'"').is_some();
        match words.last_mut() {
            _ if character == '"' && !is_escaped => is_within = !is_within,
            Some((word, _)) => word.push(character),
            None => {}
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<String> {
        let conditions = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        conditions.iter().map(|condition| condition.given.trim_start_matches("--where ").to_owned()).collect()
    }

    #[test]
    fn conditions_may_contain_spaces() {
        let cases: [(&str, &[&str]); 9] = [
            ("", &[]),
            ("name=get duration>1ms", &["name=get", "duration>1ms"]),
            ("  duration > 1ms   name = get", &["duration>1ms", "name=get"]),
            ("duration> 1ms", &["duration>1ms"]),
            ("addr=a b c name!=d e", &["addr=a b c", "name!=d e"]),
            ("addr=\"a b=c\" name~x*", &["addr=a b=c", "name~x*"]),
            ("addr = \"a = b\"", &["addr=a = b"]),
            ("addr=\"say \"\"no\"\"\"", &["addr=say \"no\""]),
            ("duration >= 2 duration <= 3", &["duration>=2", "duration<=3"]),
        ];
        for (text, expected) in cases {
            assert_eq!(read(text), expected, "{text}");
        }
        assert!(parse("duration").is_err() && parse("= 3").is_err());
    }

    #[test]
    fn what_is_shown_of_a_condition_can_be_typed() {
        for given in ["name=get", "addr=a b", "addr=a=b", "addr=\"", "addr=a \"b\" c", "duration>1.5ms"] {
            let condition: Condition = given.parse().unwrap();
            assert_eq!(parse(&typed(&condition)).unwrap(), [condition], "{given}");
        }
    }
}
