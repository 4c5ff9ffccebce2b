//! An argument of an event: what each language passes for it, and what a trace records.

use crate::field_type::{Base, ByteOrder, Content, Extent, Number, NumberKind, Shape, Width};
use crate::{Enumeration, Field, Provider, Unit, identifier};

/// What an application passes for a field, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument<'c> {
    /// The field, for its names, its unit and its documentation.
    pub field: &'c Field,
    /// The name in Rust.
    pub rust_name: String,
    /// What the value is.
    pub shape: Shape,
    /// The labels of the value.
    pub enumeration: Option<&'c Enumeration>,
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

impl<'c> Argument<'c> {
    /// The argument of a field of this provider.
    pub fn lower(provider: &'c Provider, field: &'c Field) -> Argument<'c> {
        let shape = field.kind.shape(&provider.enums);
        let enumeration = match &field.kind {
            crate::FieldType::Enum(name) => provider.enumeration(name),
            _ => None,
        };
        Argument { field, rust_name: identifier(&field.argument), shape, enumeration }
    }

    /// Whether the value is in traces, and not only for filters.
    pub fn recorded(&self) -> bool {
        self.field.recorded
    }

    /// Whether an application passes it; a stack is taken where the event is recorded.
    pub fn is_passed(&self) -> bool {
        self.shape.is_passed()
    }

    /// Whether an application passes text.
    pub fn is_text(&self) -> bool {
        self.shape.is_text()
    }

    /// Whether it is passed by value.
    pub fn is_number(&self) -> bool {
        self.shape.extent == Extent::One
    }

    /// Whether it is an address to a reader: 64 bits, shown in hexadecimal. C passes a pointer or a number.
    pub fn is_address(&self) -> bool {
        let Number { kind, width, base, .. } = self.shape.element;
        self.is_number()
            && (kind, width, base) == (NumberKind::Unsigned, Width::W64, Base::Hexadecimal)
            && !self.is_enumeration()
    }

    /// Whether bytes are swapped on their way into a trace; a single byte has no order.
    pub fn is_swapped(&self) -> bool {
        let element = self.shape.element;
        self.recorded() && element.order == ByteOrder::Network && element.width != Width::W8
    }

    /// The bytes that the argument takes in a trace for any value.
    pub fn fixed_size(&self) -> u64 {
        if self.recorded() { self.shape.fixed_size() } else { 0 }
    }

    /// Whether it takes further bytes that depend on its value.
    pub fn varies(&self) -> bool {
        self.recorded() && self.shape.varies()
    }

    /// The unit, if the argument is an integer in a unit of time.
    pub fn time_unit(&self) -> Option<Unit> {
        let unit = self.field.unit.filter(|unit| unit.nanoseconds().is_some());
        unit.filter(|_| self.is_number() && !self.shape.is_float())
    }

    /// What LTTng-UST's macros and C functions take: one parameter, or a start and a length.
    pub fn c_parameters(&self) -> Vec<CParameter> {
        let mut name = self.field.argument.clone();
        if CPP_KEYWORDS.split_whitespace().any(|keyword| keyword == name) {
            // No argument of a catalog begins like this.
            name.insert_str(0, "lttng_");
        }
        let element = self.shape.element.c_type();
        let (kind, source) = match self.shape.extent {
            Extent::One => (element, Source::Value),
            _ => (format!("const {element} *"), Source::Start),
        };
        let mut parameters = vec![CParameter { kind, name, source }];
        let length = |name| CParameter { kind: "size_t".to_owned(), name, source: Source::Length };
        parameters.extend(self.field.length_argument().map(length));
        parameters
    }

    /// The type that a Rust function takes for what is not text, with this lifetime: `&'a [u32]`.
    pub fn rust_type(&self, lifetime: &str) -> String {
        let element = match self.enumeration {
            Some(enumeration) => enumeration.rust_name(),
            None => self.shape.element.rust_type(),
        };
        match self.shape.extent {
            Extent::One => element,
            Extent::Fixed(count) => format!("&{lifetime} [{element}; {count}]"),
            Extent::Terminated | Extent::Counted(_) => format!("&{lifetime} [{element}]"),
        }
    }

    /// Whether it is a list of any length.
    pub fn is_slice(&self) -> bool {
        self.shape.varies() && !self.is_text()
    }

    /// Whether it is a list of a fixed length.
    pub fn is_array(&self) -> bool {
        matches!(self.shape.extent, Extent::Fixed(_)) && !self.is_text()
    }

    /// Whether it has labels.
    pub fn is_enumeration(&self) -> bool {
        self.shape.content == Content::Enumeration
    }
}

impl CParameter {
    /// `const char *name`
    pub fn declaration(&self) -> String {
        let space = if self.kind.ends_with('*') { "" } else { " " };
        format!("{}{space}{}", self.kind, self.name)
    }
}

/// Keywords of C++ that neither C nor the catalog reserves.
const CPP_KEYWORDS: &str = "
    alignas alignof and and_eq asm bitand bitor catch char16_t char32_t char8_t class co_await co_return
    co_yield compl concept const_cast consteval constexpr constinit decltype delete dynamic_cast
    explicit export friend mutable namespace new noexcept not not_eq nullptr operator or or_eq private
    protected public reinterpret_cast requires static_assert static_cast template this thread_local
    throw try typeid typename using virtual wchar_t xor xor_eq
";
