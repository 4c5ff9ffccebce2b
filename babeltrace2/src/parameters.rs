//! Parameters of components.

use std::fmt;

/// A parameter's value, as `babeltrace2 --params` spells it: `yes`, `-5`, `2.5`, `"text"`, `[1, 2]`.
#[derive(Clone, Debug, PartialEq)]
pub enum Parameter {
    /// True or false.
    Boolean(bool),
    /// An integer.
    Integer(i64),
    /// A number.
    Real(f64),
    /// Text.
    Text(String),
    /// A list.
    List(Vec<Parameter>),
}

impl Parameter {
    /// Reads `NAME=VALUE`. A value that is not a truth value or a number is text, with or without quotation marks.
    ///
    /// ```
    /// use ltt_babeltrace2::Parameter;
    ///
    /// assert_eq!(Parameter::parse("limit=-5"), Ok(("limit".into(), Parameter::Integer(-5))));
    /// assert_eq!(Parameter::parse("path=a b"), Ok(("path".into(), Parameter::Text("a b".into()))));
    /// let list = Parameter::List(vec![Parameter::Text("x".into()), Parameter::Boolean(true)]);
    /// assert_eq!(Parameter::parse("inputs=[\"x\", yes]"), Ok(("inputs".into(), list)));
    /// assert!(Parameter::parse("limit").is_err());
    /// ```
    pub fn parse(text: &str) -> Result<(String, Parameter), String> {
        match text.split_once('=') {
            Some((name, value)) if !name.trim().is_empty() => {
                Ok((name.trim().to_owned(), Parameter::value(value.trim())))
            }
            _ => Err(format!("`{text}` is not NAME=VALUE")),
        }
    }

    fn value(text: &str) -> Parameter {
        if let Some(list) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
            let elements = list.split(',').map(str::trim).filter(|element| !element.is_empty());
            return Parameter::List(elements.map(Parameter::value).collect());
        }
        match text {
            "yes" | "true" | "TRUE" => return Parameter::Boolean(true),
            "no" | "false" | "FALSE" => return Parameter::Boolean(false),
            _ => {}
        }
        let number = text.parse().map(Parameter::Integer).or_else(|_| text.parse().map(Parameter::Real));
        number.unwrap_or_else(|_| {
            let quoted = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
            Parameter::Text(quoted.unwrap_or(text).to_owned())
        })
    }
}

impl fmt::Display for Parameter {
    /// As an option of a program takes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Parameter::Boolean(value) => value.fmt(f),
            Parameter::Integer(value) => value.fmt(f),
            Parameter::Real(value) => value.fmt(f),
            Parameter::Text(value) => f.write_str(value),
            Parameter::List(values) => {
                for (index, value) in values.iter().enumerate() {
                    write!(f, "{}{value}", if index > 0 { "," } else { "" })?;
                }
                Ok(())
            }
        }
    }
}
