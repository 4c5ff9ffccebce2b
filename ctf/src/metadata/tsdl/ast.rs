//! What TSDL says, as it is written.

pub use super::super::draft::Path;

/// A statement, on the top level or in a block.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// `typealias TYPE := NAME;` or `typedef TYPE NAME;`, and named types that are declared alone.
    Types(TypeStatement),
    /// `trace { … };`, `env { … };`, `clock { … };`, `stream { … };`, `event { … };`, `callsite { … };`
    Block {
        /// Which.
        keyword: String,
        /// What stands in it.
        statements: Vec<Statement>,
        /// The line it begins on.
        line: usize,
    },
    /// `path.to.name = VALUE;`
    Assign {
        /// The name, its parts joined with dots.
        name: String,
        /// The value.
        value: Value,
        /// The line it stands on.
        line: usize,
    },
    /// `path.to.name := TYPE;`
    Layout {
        /// The name, its parts joined with dots.
        name: String,
        /// The type.
        kind: TypeExpression,
    },
}

/// A statement about types, which may stand in structures too.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeStatement {
    /// Gives a type a name.
    Alias {
        /// The type.
        kind: TypeExpression,
        /// The name.
        name: String,
    },
    /// Names a structure, an enumeration or a variant, and nothing else: `struct name { … };`
    Declare(TypeExpression),
}

/// The value of an assignment.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number.
    Number(i128),
    /// A string.
    Text(String),
    /// A word or a path, its parts joined with dots: `le`, `clock.monotonic.value`.
    Word(String),
}

/// A type, as it is written.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeExpression {
    /// What it is.
    pub shape: Shape,
    /// The lengths behind it, outermost first.
    pub lengths: Vec<Length>,
    /// The line it stands on.
    pub line: usize,
}

/// What a type expression is, apart from being an array.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A name that `typealias` or `typedef` gave, with `<tag>` if it is an untagged variant's.
    Named(String, Option<Path>),
    /// `integer { … }`
    Integer(Vec<Attribute>),
    /// `floating_point { … }`
    Float(Vec<Attribute>),
    /// `string` or `string { … }`
    Text,
    /// `struct name { … } align(…)`
    Struct { name: Option<String>, body: Option<Vec<Entry>>, align: u64 },
    /// `variant name <tag> { … }`
    Variant { name: Option<String>, tag: Option<Path>, body: Option<Vec<Entry>> },
    /// `enum name : container { … }`
    Enum { name: Option<String>, container: Option<Box<TypeExpression>>, body: Option<Vec<Enumerator>> },
}

/// `size = 8;`
pub type Attribute = (String, Value);

/// What stands in the body of a structure or a variant.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// A member.
    Member(String, TypeExpression),
    /// A statement about types.
    Types(TypeStatement),
}

/// One label of an enumeration; without values it has one more than the label before it.
#[derive(Clone, Debug, PartialEq)]
pub struct Enumerator {
    /// The label.
    pub label: String,
    /// The first value and the last.
    pub values: Option<(i128, i128)>,
}

/// The length of an array or a sequence.
#[derive(Clone, Debug, PartialEq)]
pub enum Length {
    /// An array's.
    Fixed(u64),
    /// A sequence's.
    Path(Path),
}

impl TypeStatement {
    /// The line it stands on.
    pub fn line(&self) -> usize {
        match self {
            TypeStatement::Alias { kind, .. } | TypeStatement::Declare(kind) => kind.line,
        }
    }
}
