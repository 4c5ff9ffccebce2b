//! Which spans and events of the `tracing` crate an event records: the key `tracing`.
//!
//! The syntax is that of `tracing_subscriber::EnvFilter` without its level: `target[name{field,field}]`.

use std::fmt;
use std::str::FromStr;

/// A pattern for the call sites of `tracing`: `target[name{field,field}]`, of which any part may be left out.
///
/// ```
/// use lttng_catalog::CallsitePattern;
///
/// let pattern: CallsitePattern = "mini_redis::cmd::get[apply]".parse()?;
/// assert_eq!(pattern.target.as_deref(), Some("mini_redis::cmd::get"));
/// assert_eq!(pattern.name.as_deref(), Some("apply"));
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallsitePattern {
    /// The target, by default the path of a module; modules inside it match, too.
    pub target: Option<String>,
    /// The name of a span, or of an event that was given one.
    pub name: Option<String>,
    /// Fields that a call site must have.
    pub fields: Vec<String>,
}

impl FromStr for CallsitePattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = |what: &str| {
            format!("`{text}` {what}; write `target[name{{field}}]`, of which any part may be left out")
        };
        let (target, inside) = match text.split_once('[') {
            None => (text, ""),
            Some((target, rest)) => {
                (target, rest.strip_suffix(']').ok_or_else(|| wrong("does not end in `]`"))?)
            }
        };
        let (name, fields) = match inside.split_once('{') {
            None => (inside, None),
            Some((name, rest)) => {
                (name, Some(rest.strip_suffix('}').ok_or_else(|| wrong("has no `}` before its `]`"))?))
            }
        };
        let fields: Vec<String> = fields
            .into_iter()
            .flat_map(|fields| fields.split(','))
            .map(|field| field.trim().to_owned())
            .collect();
        if fields.iter().any(String::is_empty) {
            return Err(wrong("has an empty field name"));
        }
        if target.contains(|c: char| c.is_whitespace() || "]{}=".contains(c)) {
            return Err(wrong("has a target with a space, a bracket or a `=`"));
        }
        let part = |part: &str| (!part.is_empty()).then(|| part.to_owned());
        let pattern = CallsitePattern { target: part(target), name: part(name), fields };
        if pattern == CallsitePattern::default() {
            return Err(wrong("names neither a target nor a span nor a field"));
        }
        Ok(pattern)
    }
}

impl fmt::Display for CallsitePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.target.as_deref().unwrap_or_default())?;
        if self.name.is_none() && self.fields.is_empty() {
            return Ok(());
        }
        write!(f, "[{}", self.name.as_deref().unwrap_or_default())?;
        if !self.fields.is_empty() {
            write!(f, "{{{}}}", self.fields.join(","))?;
        }
        f.write_str("]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pattern_is_written_as_it_is_read() {
        for text in ["a::b", "a[b]", "[b]", "[get user]", "[{c}]", "a[{c,d}]", "a::b[c{d,e.f}]"] {
            assert_eq!(text.parse::<CallsitePattern>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn pattern_that_says_nothing_or_is_cut_is_refused() {
        for text in ["", "[]", "[{}]", "a[", "a[b", "a[b{c]", "a[b{c}", "a b", "a]", "a[{b,}]", "a=info"] {
            assert!(text.parse::<CallsitePattern>().is_err(), "{text}");
        }
    }
}
