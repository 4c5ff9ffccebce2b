//! The syntax tree of TSDL. Names are borrowed from the text.

use std::borrow::Cow;
use std::rc::Rc;

/// A reference to a field: `len`, `stream.event.context.len`.
pub type PathExpression<'a> = Vec<&'a str>;

/// A statement, on the top level or in a block.
#[derive(Debug)]
pub enum Statement<'a> {
    /// `typealias TYPE := NAME;` or `typedef TYPE NAME;`, and named types that are declared alone.
    Types(TypeStatement<'a>),
    /// `trace { … };`, `env { … };`, `clock { … };`, `stream { … };`, `event { … };`, `callsite { … };`
    Block {
        /// Which.
        keyword: &'a str,
        /// Its content.
        statements: Vec<Statement<'a>>,
        /// The line it begins on.
        line: usize,
    },
    /// `path.to.name = VALUE;`
    Assign {
        /// The name, its parts joined with dots.
        name: Cow<'a, str>,
        /// The value.
        value: AssignedValue<'a>,
        /// Its line.
        line: usize,
    },
    /// `path.to.name := TYPE;`
    Layout {
        /// The name, its parts joined with dots.
        name: Cow<'a, str>,
        /// The type.
        kind: TypeExpression<'a>,
    },
}

/// A statement about types, which structures may contain too.
#[derive(Debug)]
pub enum TypeStatement<'a> {
    /// Gives a type a name.
    Alias {
        /// The type.
        kind: TypeExpression<'a>,
        /// The lengths after it, outermost first.
        lengths: Vec<LengthExpression<'a>>,
        /// The name.
        name: Cow<'a, str>,
    },
    /// Gives a type, and arrays of it, names.
    Define(TypeExpression<'a>, Vec<Declarator<'a>>),
    /// Names a structure, an enumeration or a variant, and nothing else: `struct name { … };`
    Declare(TypeExpression<'a>),
}

/// The value of an assignment.
#[derive(Debug)]
pub enum AssignedValue<'a> {
    /// A number.
    Number(i128),
    /// A string.
    Text(Cow<'a, str>),
    /// A word or a path, its parts joined with dots: `le`, `clock.monotonic.value`.
    Word(Cow<'a, str>),
}

/// A type, as it is written.
#[derive(Debug)]
pub struct TypeExpression<'a> {
    /// What it is.
    pub shape: TypeShape<'a>,
    /// Its line.
    pub line: usize,
}

/// A name, and the lengths after it if it is an array's: `name[2][length]`.
#[derive(Debug)]
pub struct Declarator<'a> {
    /// The name.
    pub name: &'a str,
    /// The lengths, outermost first.
    pub lengths: Vec<LengthExpression<'a>>,
}

/// What a type expression is, apart from being an array.
#[derive(Debug)]
pub enum TypeShape<'a> {
    /// A name that `typealias` or `typedef` gave, with `<tag>` if it is an untagged variant's.
    Named(Cow<'a, str>, Option<PathExpression<'a>>),
    /// `integer { … }`
    Integer(Rc<[Attribute<'a>]>),
    /// `floating_point { … }`
    Float(Rc<[Attribute<'a>]>),
    /// `string` or `string { … }`
    Text,
    /// `struct name { … } align(…)`
    Struct { name: Option<&'a str>, body: Option<Vec<BodyEntry<'a>>>, align: u64 },
    /// `variant name <tag> { … }`
    Variant { name: Option<&'a str>, tag: Option<PathExpression<'a>>, body: Option<Vec<BodyEntry<'a>>> },
    /// `enum name : container { … }`
    Enum {
        name: Option<&'a str>,
        container: Option<Box<TypeExpression<'a>>>,
        body: Option<Vec<Enumerator<'a>>>,
    },
}

/// `size = 8;`
pub type Attribute<'a> = (&'a str, AssignedValue<'a>);

/// A part of the body of a structure or a variant.
#[derive(Debug)]
pub enum BodyEntry<'a> {
    /// Members of one type, or arrays of it.
    Members(TypeExpression<'a>, Vec<Declarator<'a>>),
    /// A statement about types.
    Types(TypeStatement<'a>),
}

/// One label of an enumeration; without values, it has the value after the last one of the label before it.
#[derive(Debug)]
pub struct Enumerator<'a> {
    /// The label.
    pub label: Cow<'a, str>,
    /// The first value and the last.
    pub values: Option<(i128, i128)>,
}

/// The length of an array or a sequence.
#[derive(Debug)]
pub enum LengthExpression<'a> {
    /// An array's.
    Fixed(u64),
    /// A sequence's.
    Path(PathExpression<'a>),
}

impl TypeStatement<'_> {
    /// Its line.
    pub fn line(&self) -> usize {
        match self {
            TypeStatement::Alias { kind, .. } | TypeStatement::Define(kind, _) => kind.line,
            TypeStatement::Declare(kind) => kind.line,
        }
    }
}
