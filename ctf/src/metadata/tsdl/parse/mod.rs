//! Tokens to statements and drafts of types, by recursive descent.
//!
//! ```text
//! statement = keyword "{" statement* "}" ";" | path ("=" value | ":=" type) ";" | types
//! types     = "typealias" type lengths ":=" name ";" | "typedef" type (name lengths),+ ";" | type ";"
//! type      = name+ ["<" path ">"] | "integer" attributes | "floating_point" attributes
//!           | "string" [attributes] | "struct" [name] ["{" entry* "}"] ["align" "(" number ")"]
//!           | "variant" [name] ["<" path ">"] ["{" entry* "}"]
//!           | "enum" [name] [":" type] ["{" enumerator,+ "}"]
//! entry     = types | type (name lengths),+ ";"
//! lengths   = ("[" (number | path) "]")*
//! ```

mod cursor;
mod statements;
mod types;

pub use cursor::Parser;
pub use statements::{Broken, Statement, StatementKind};
