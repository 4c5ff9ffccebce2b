//! The position of a part in a catalog, independent of any file.

use std::fmt;

/// The path from the top of a catalog down to one of its parts.
///
/// It displays as the names on the path: `valkey_commands → command_call → addr`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    steps: Vec<Step>,
}

/// One step of a [`Place`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Step {
    /// Into the provider of this name.
    Provider(String),
    /// Into the enumeration of this name.
    Enum(String),
    /// Into the class of this name.
    Class(String),
    /// Into the event of this name.
    Event(String),
    /// Into the field at this index; its name, if it has one.
    Field(usize, String),
    /// Into the label at this index; its name, if it has one.
    Label(usize, String),
    /// To the value of this key.
    Value(String),
    /// To the element at this index of an array.
    Element(usize),
    /// To this key itself, rather than its value.
    Key(String),
}

impl Place {
    /// The top of the catalog.
    pub fn top() -> Self {
        Self::default()
    }

    /// The place one step further down.
    pub fn then(&self, step: Step) -> Self {
        let mut steps = self.steps.clone();
        steps.push(step);
        Place { steps }
    }

    /// The place of a key's value.
    pub fn value(&self, key: &str) -> Self {
        self.then(Step::Value(key.to_owned()))
    }

    /// The steps from the top.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for step in &self.steps {
            match step {
                Step::Provider(name) | Step::Enum(name) | Step::Class(name) | Step::Event(name) => {
                    write!(f, "{separator}{name}")?;
                }
                Step::Field(index, name) if name.is_empty() => {
                    write!(f, "{separator}field {}", index + 1)?;
                }
                Step::Label(index, name) if name.is_empty() => {
                    write!(f, "{separator}label {}", index + 1)?;
                }
                Step::Field(_, name) | Step::Label(_, name) => write!(f, "{separator}{name}")?,
                Step::Value(_) | Step::Element(_) | Step::Key(_) => continue,
            }
            separator = " → ";
        }
        Ok(())
    }
}
