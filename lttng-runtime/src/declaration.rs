//! The text that declares events: `sale(article: string group, took: u64 us) refund()`.

use std::fmt;

/// The most fields of an event, as with LTTng's macros.
pub const FIELDS_MAX: usize = 10;

/// The longest `provider:event` that LTTng keeps whole, in bytes.
const NAME_MAX: usize = 255;

const TYPES: &str = "u8 u16 u32 u64 i8 i16 i32 i64 f32 f64 bool string";
const TIME_UNITS: [&str; 4] = ["ns", "us", "ms", "s"];
const WORDS: &str = "ns us ms s bytes hex duration sum group client";

/// Why something cannot be declared: one line that names the place, the mistake and the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(pub(crate) String);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

/// The layout of a value in a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Integer { bytes: usize, signed: bool },
    Float { bytes: usize },
    Text,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    pub name: String,
    pub kind: Kind,
    pub is_hex: bool,
    is_bool: bool,
    unit: Option<String>,
    roles: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Declaration {
    pub name: String,
    pub fields: Vec<Field>,
}

impl Field {
    fn is(&self, role: &str) -> bool {
        self.roles.iter().any(|own| own == role)
    }

    fn is_time(&self) -> bool {
        self.unit.as_deref().is_some_and(|unit| TIME_UNITS.contains(&unit))
    }
}

impl Declaration {
    /// What readers of a trace need to know, as `docs/meaning.md` defines it; `None` if there is nothing to say.
    pub fn meaning(&self) -> Option<String> {
        let mut words = Vec::new();
        if let Some(duration) = self.duration() {
            words.push(format!("duration={}", duration.name));
            words.extend(duration.is("sum").then(|| "measure=sum".to_owned()));
        }
        for field in &self.fields {
            words.extend(field.unit.as_ref().map(|unit| format!("unit={}:{unit}", field.name)));
            words.extend(field.is_bool.then(|| format!("bool={}", field.name)));
            let roles = ["group", "client"].into_iter().filter(|role| field.is(role));
            words.extend(roles.map(|role| format!("{role}={}", field.name)));
        }
        (!words.is_empty()).then(|| format!("meaning:1;{}", words.join(";")))
    }

    /// The field that says so, or else the only one with a unit of time.
    fn duration(&self) -> Option<&Field> {
        let mut timed = self.fields.iter().filter(|field| field.is_time());
        let only = timed.next().filter(|_| timed.next().is_none());
        self.fields.iter().find(|field| field.is("duration") || field.is("sum")).or(only)
    }
}

/// Checks the name of a provider.
pub(crate) fn check_provider(name: &str) -> Result<(), Error> {
    check_name("provider", name)?;
    if name.len() > NAME_MAX - 2 {
        return Err(Error(format!(
            "the provider's name has {} bytes: use at most {}",
            name.len(),
            NAME_MAX - 2
        )));
    }
    Ok(())
}

/// Reads the events of a provider.
pub(crate) fn parse(provider: &str, text: &str) -> Result<Vec<Declaration>, Error> {
    let mut events: Vec<Declaration> = Vec::new();
    let mut names = std::collections::HashSet::new();
    let is_space = |character: char| character.is_whitespace() || matches!(character, ';' | ',');
    let mut rest = text.trim_matches(is_space);
    while !rest.is_empty() {
        let whole = rest.split_once('(').and_then(|(name, rest)| Some((name, rest.split_once(')')?)));
        let Some((name, (fields, after))) = whole else {
            let start: String = rest.chars().take(40).collect();
            return Err(Error(format!(
                "{provider}: expected an event such as `sale(article: string, took: u64 us)`, found `{start}`"
            )));
        };
        let event = parse_event(provider, name.trim(), fields)?;
        if !names.insert(event.name.clone()) {
            return Err(Error(format!("{provider}:{}: declared twice; remove one", event.name)));
        }
        events.push(event);
        rest = after.trim_start_matches(is_space);
    }
    Ok(events)
}

fn parse_event(provider: &str, name: &str, fields: &str) -> Result<Declaration, Error> {
    check_name(&format!("{provider}: event"), name)?;
    let full = format!("{provider}:{name}");
    if full.len() > NAME_MAX {
        return Err(Error(format!("{full}: the name has {} bytes: use at most {NAME_MAX}", full.len())));
    }
    let fields = match fields.trim() {
        "" => Vec::new(),
        fields => fields.split(',').map(|field| parse_field(&full, field)).collect::<Result<_, _>>()?,
    };
    let event = Declaration { name: name.to_owned(), fields };
    check_event(&event).map_err(|reason| Error(format!("{full}: {reason}")))?;
    Ok(event)
}

fn check_event(event: &Declaration) -> Result<(), String> {
    let count = event.fields.len();
    if count > FIELDS_MAX {
        return Err(format!("{count} fields: use at most {FIELDS_MAX}"));
    }
    for (index, field) in event.fields.iter().enumerate() {
        if event.fields[..index].iter().any(|other| other.name == field.name) {
            return Err(format!("duplicate field `{}`; rename one", field.name));
        }
    }
    let most_one = |what, roles: &[&str]| {
        let has = |field: &&Field| roles.iter().any(|role| field.is(role));
        match event.fields.iter().filter(has).count() {
            0 | 1 => Ok(()),
            count => Err(format!("{count} fields are the {what}; mark one")),
        }
    };
    most_one("duration", &["duration", "sum"])?;
    most_one("client", &["client"])
}

fn parse_field(event: &str, text: &str) -> Result<Field, Error> {
    let Some((name, words)) = text.split_once(':') else {
        let text = text.trim();
        return Err(Error(format!("{event}: expected a field such as `took: u64 us`, found `{text}`")));
    };
    let name = name.trim();
    check_name(&format!("{event}: field"), name)?;
    let wrong = |reason: String| Error(format!("{event}, field `{name}`: {reason}"));
    let mut words = words.split_whitespace();
    let word = words.next().unwrap_or_default();
    let kind = kind(word).ok_or_else(|| wrong(format!("unknown type `{word}`; use one of: {TYPES}")))?;
    let is_bool = word == "bool";
    let mut field =
        Field { name: name.to_owned(), kind, is_hex: false, is_bool, unit: None, roles: Vec::new() };
    for word in words {
        field.add(word).map_err(wrong)?;
    }
    if (field.is("duration") || field.is("sum")) && !field.is_time() {
        return Err(wrong("a duration needs a unit of time: ns, us, ms or s".to_owned()));
    }
    Ok(field)
}

impl Field {
    fn add(&mut self, word: &str) -> Result<(), String> {
        let is_integer = matches!(self.kind, Kind::Integer { .. }) && !self.is_bool;
        let is_number = is_integer || matches!(self.kind, Kind::Float { .. });
        match word {
            "bytes" | "ns" | "us" | "ms" | "s" if !is_number => {
                Err(format!("the unit `{word}` needs a number"))
            }
            "bytes" | "ns" | "us" | "ms" | "s" => match self.unit.replace(word.to_owned()) {
                Some(first) => Err(format!("two units, `{first}` and `{word}`; keep one")),
                None => Ok(()),
            },
            "hex" if is_integer && !self.is_hex => {
                self.is_hex = true;
                Ok(())
            }
            "hex" => Err("`hex` is for integers, once".to_owned()),
            "group" if matches!(self.kind, Kind::Float { .. }) => {
                Err("floating-point numbers make no groups".to_owned())
            }
            "duration" | "sum" | "group" | "client" if !self.is(word) => {
                self.roles.push(word.to_owned());
                Ok(())
            }
            "duration" | "sum" | "group" | "client" => Err(format!("`{word}` is said twice; remove one")),
            _ => Err(format!("unknown word `{word}`; use one of: {WORDS}")),
        }
    }
}

fn kind(word: &str) -> Option<Kind> {
    let bytes = |bits: &str| match bits {
        "8" => Some(1),
        "16" => Some(2),
        "32" => Some(4),
        "64" => Some(8),
        _ => None,
    };
    match (word, word.split_at_checked(1)?) {
        ("string", _) => Some(Kind::Text),
        ("bool", _) => Some(Kind::Integer { bytes: 1, signed: false }),
        (_, ("f", bits)) => Some(Kind::Float { bytes: bytes(bits).filter(|&bytes| bytes >= 4)? }),
        (_, (sign @ ("u" | "i"), bits)) => Some(Kind::Integer { bytes: bytes(bits)?, signed: sign == "i" }),
        _ => None,
    }
}

fn check_name(what: &str, name: &str) -> Result<(), Error> {
    let starts = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    let goes_on = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !starts || !goes_on {
        let name: String = name.chars().take(80).collect();
        return Err(Error(format!(
            "{what} `{}`: invalid name; use letters, digits and `_`, and a letter first",
            name.escape_debug()
        )));
    }
    if name.starts_with("lttng_") {
        return Err(Error(format!(
            "{what} `{name}`: names that begin with `lttng_` belong to LTTng; choose another"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meaning(text: &str) -> Option<String> {
        parse("shop", text).unwrap()[0].meaning()
    }

    #[test]
    fn events_are_read_in_order_with_their_meaning() {
        let events = parse("shop", "sale(article: string group, took: u64 us);\nrefund()").unwrap();
        assert_eq!(events.iter().map(|event| event.name.as_str()).collect::<Vec<_>>(), ["sale", "refund"]);
        assert_eq!(events[0].fields[1].kind, Kind::Integer { bytes: 8, signed: false });
        let expected = "meaning:1;duration=took;group=article;unit=took:us";
        assert_eq!(events[0].meaning().as_deref(), Some(expected));
        assert_eq!(events[1].meaning(), None);
    }

    #[test]
    fn two_times_need_a_word_that_says_which_is_the_duration() {
        assert_eq!(meaning("e(a: u64 us, b: u64 ms)").unwrap(), "meaning:1;unit=a:us;unit=b:ms");
        let expected = "meaning:1;duration=b;measure=sum;unit=a:us;unit=b:ms;bool=c;client=d";
        assert_eq!(
            meaning("e(a: u64 us, b: f32 ms sum, c: bool, d: string client)").as_deref(),
            Some(expected)
        );
    }

    #[test]
    fn mistakes_are_one_line_with_place_and_remedy() {
        let long = "x".repeat(251);
        let eleven: Vec<_> = (0..11).map(|index| format!("f{index}: u8")).collect();
        for (text, expected) in [
            ("sale".to_owned(), "shop: expected an event such as"),
            ("sale(".to_owned(), "found `sale(`"),
            ("2nd()".to_owned(), "shop: event `2nd`: invalid name"),
            ("lttng_x()".to_owned(), "belong to LTTng"),
            (format!("{long}()"), "the name has 256 bytes: use at most 255"),
            ("sale() sale()".to_owned(), "shop:sale: declared twice"),
            ("sale(a: u8, a: u8)".to_owned(), "shop:sale: duplicate field `a`"),
            (format!("sale({})", eleven.join(",")), "shop:sale: 11 fields: use at most 10"),
            ("sale(a)".to_owned(), "shop:sale: expected a field such as `took: u64 us`, found `a`"),
            ("sale(a b: u8)".to_owned(), "shop:sale: field `a b`: invalid name"),
            ("sale(a: u63)".to_owned(), "shop:sale, field `a`: unknown type `u63`; use one of: u8"),
            ("sale(a: f16)".to_owned(), "unknown type `f16`"),
            ("sale(a: é)".to_owned(), "unknown type `é`"),
            ("sale(a: )".to_owned(), "unknown type ``"),
            ("sale(a: u8 parsec)".to_owned(), "unknown word `parsec`; use one of: ns"),
            ("sale(a: string us)".to_owned(), "the unit `us` needs a number"),
            ("sale(a: u8 us ms)".to_owned(), "two units, `us` and `ms`"),
            ("sale(a: u8 duration)".to_owned(), "a duration needs a unit of time"),
            ("sale(a: f64 group)".to_owned(), "floating-point numbers make no groups"),
            ("sale(a: f64 hex)".to_owned(), "`hex` is for integers"),
            ("sale(a: u8 group group)".to_owned(), "`group` is said twice"),
            ("sale(a: u8 us duration, b: u8 us sum)".to_owned(), "2 fields are the duration; mark one"),
        ] {
            let Error(line) = parse("shop", &text).expect_err(&text);
            assert!(line.contains(expected), "{text}: {line}");
            assert_eq!(line.lines().count(), 1, "{line}");
        }
        assert!(check_provider(&"p".repeat(254)).is_err());
        assert!(check_provider("").is_err());
    }
}
