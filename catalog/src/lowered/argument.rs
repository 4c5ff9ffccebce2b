//! An argument of an event: its shape, and what each language passes for it.

use crate::{Field, FieldType, Provider, Unit, Width, identifier};

use super::number::Number;

/// What an application passes for a field, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument<'c> {
    /// The field, for its names, its unit and its documentation.
    pub field: &'c Field,
    /// The name in Rust.
    pub rust_name: String,
    /// The shape of the value.
    pub shape: Shape,
}

/// The shape of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A number, passed by value.
    Number(Number),
    /// A value of an enumeration.
    Enumeration {
        /// The name in the catalog.
        name: String,
        /// The name of the type in Rust.
        rust_name: String,
        /// What is passed and recorded.
        container: Number,
    },
    /// Text up to its first NUL.
    String,
    /// A fixed number of bytes of text.
    Characters {
        /// Their number.
        count: u32,
    },
    /// Text with its length before it.
    Text {
        /// The integer that the length is recorded in.
        length: Width,
    },
    /// A fixed number of numbers.
    Array {
        /// What each element is.
        element: Number,
        /// The number of elements.
        count: u32,
    },
    /// Numbers with their count before them.
    Sequence {
        /// What each element is.
        element: Number,
        /// The integer that the count is recorded in.
        length: Width,
    },
    /// Return addresses, which are taken where the event is recorded: numbers with their count before them.
    Stack,
}

/// A parameter of a C function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CParameter {
    /// The type, e.g. `const char *`.
    pub kind: String,
    /// The name.
    pub name: String,
    /// The part of the argument that it carries.
    pub source: Source,
}

/// The part of an argument that a parameter or a value carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The number itself.
    Value,
    /// Where the bytes or elements start.
    Start,
    /// Their number.
    Length,
}

/// The type that a Rust function takes for an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RustType {
    /// A primitive type.
    Number(&'static str),
    /// A generated enum of this name.
    Enumeration(String),
    /// `Text<'a>`
    Text,
    /// `&'a [element; count]`
    Array {
        /// A primitive type.
        element: &'static str,
        /// Their number.
        count: u32,
    },
    /// `&'a [element]`
    Slice {
        /// A primitive type.
        element: &'static str,
    },
}

impl<'c> Argument<'c> {
    /// The argument of a field of this provider.
    pub fn lower(provider: &Provider, field: &'c Field) -> Argument<'c> {
        let integer = |integer| Number::integer(integer, field.recorded);
        let shape = match &field.kind {
            FieldType::Integer(kind) => Shape::Number(integer(*kind)),
            FieldType::Float => Shape::Number(Number::FLOAT),
            FieldType::Double => Shape::Number(Number::DOUBLE),
            FieldType::Bool => Shape::Number(Number::BOOL),
            FieldType::Enum(name) => {
                let found = provider.enumeration(name).expect("a checked catalog has its enums");
                let container = integer(found.container);
                Shape::Enumeration { name: name.clone(), rust_name: found.rust_name(), container }
            }
            FieldType::String => Shape::String,
            FieldType::TextArray(count) => Shape::Characters { count: *count },
            FieldType::Text { length } => Shape::Text { length: *length },
            FieldType::Array { element, length } => {
                Shape::Array { element: integer(*element), count: *length }
            }
            FieldType::Sequence { element, length } => {
                Shape::Sequence { element: integer(*element), length: *length }
            }
            FieldType::Stack => Shape::Stack,
        };
        Argument { field, rust_name: identifier(&field.argument), shape }
    }

    /// Whether the value is in traces, and not only for filters.
    pub fn recorded(&self) -> bool {
        self.field.recorded
    }

    /// The number that is passed by value, if one is.
    pub fn number(&self) -> Option<Number> {
        match &self.shape {
            Shape::Number(number) | Shape::Enumeration { container: number, .. } => Some(*number),
            _ => None,
        }
    }

    /// Whether an application passes it; a stack is taken where the event is recorded.
    pub fn is_passed(&self) -> bool {
        self.shape != Shape::Stack
    }

    /// Whether an application passes text.
    pub fn is_text(&self) -> bool {
        self.rust_type() == RustType::Text
    }

    /// The unit, if the argument is an integer in a unit of time.
    pub fn time_unit(&self) -> Option<Unit> {
        let unit = self.field.unit.filter(|unit| unit.nanoseconds().is_some());
        unit.filter(|_| matches!(self.field.kind, FieldType::Integer(_)))
    }

    /// What LTTng-UST's macros and C functions take: one parameter, or a start and a length.
    pub fn c_parameters(&self) -> Vec<CParameter> {
        let name = self.field.argument.clone();
        let (kind, source) = match &self.shape {
            Shape::Number(number) | Shape::Enumeration { container: number, .. } => {
                (number.c_type.to_owned(), Source::Value)
            }
            Shape::String | Shape::Characters { .. } | Shape::Text { .. } => {
                ("const char *".to_owned(), Source::Start)
            }
            Shape::Array { element, .. } | Shape::Sequence { element, .. } => {
                (format!("const {} *", element.c_type), Source::Start)
            }
            Shape::Stack => (format!("const {} *", Number::FRAME.c_type), Source::Start),
        };
        let mut parameters = vec![CParameter { kind, name, source }];
        let length = |name| CParameter { kind: "size_t".to_owned(), name, source: Source::Length };
        parameters.extend(self.field.length_argument().map(length));
        parameters
    }

    /// The type that a Rust function takes.
    pub fn rust_type(&self) -> RustType {
        match &self.shape {
            Shape::Number(number) => RustType::Number(number.rust_type),
            Shape::Enumeration { rust_name, .. } => RustType::Enumeration(rust_name.clone()),
            Shape::String | Shape::Characters { .. } | Shape::Text { .. } => RustType::Text,
            Shape::Array { element, count } => RustType::Array { element: element.rust_type, count: *count },
            Shape::Sequence { element, .. } => RustType::Slice { element: element.rust_type },
            Shape::Stack => RustType::Slice { element: Number::FRAME.rust_type },
        }
    }
}

impl CParameter {
    /// `const char *name`
    pub fn declaration(&self) -> String {
        let space = if self.kind.ends_with('*') { "" } else { " " };
        format!("{}{space}{}", self.kind, self.name)
    }
}
