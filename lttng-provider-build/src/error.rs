//! Why the providers of a catalog cannot be built.

use std::path::PathBuf;
use std::{env, fmt, io};

use lttng_catalog::Errors;
use lttng_catalog::lowered::LowerError;

use crate::version::GENERATED;

/// Why a catalog is not compiled. [`source`](std::error::Error::source) is the error of the file system or the tool.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The crate does not depend on `lttng-provider`, which decides whether tracing is on.
    NoRuntime,
    /// The crate's `lttng-provider` does not fit the generated code.
    AnotherRuntime {
        /// The version of generated code that it takes.
        runtime: String,
    },
    /// The build script has already compiled catalogs.
    CompiledTwice,
    /// The program is not run by Cargo as a build script.
    NotABuildScript,
    /// The prefix cannot begin a C identifier.
    Prefix {
        /// The whole prefix.
        prefix: String,
        /// The first invalid character.
        wrong: char,
    },
    /// A catalog's path cannot be in a list of paths.
    CatalogPath(env::JoinPathsError),
    /// Catalogs cannot be read or are invalid.
    Catalogs(Vec<Errors>),
    /// A catalog that a program made is invalid, or providers clash in one program.
    Lower(LowerError),
    /// A file cannot be written.
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The generated C does not compile.
    Compiler(cc::Error),
}

impl From<LowerError> for Error {
    fn from(error: LowerError) -> Self {
        Error::Lower(error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NoRuntime => f.write_str(
                "`lttng-provider` is missing: add it to the [dependencies] of the crate, and call this from the crate's build \
                 script",
            ),
            Error::AnotherRuntime { runtime } => {
                let runtime = if runtime.is_empty() { "0" } else { runtime };
                write!(
                    f,
                    "`lttng-provider` takes generated code of version {runtime}, but this `lttng-provider-build` generates \
                     version {GENERATED}: use the same version of both crates"
                )
            }
            Error::CompiledTwice => f.write_str(
                "this build script has already compiled catalogs: name all of them at once, as in \
                 `Builder::new().catalog(\"a.toml\").catalog(\"b.toml\").compile()`",
            ),
            Error::NotABuildScript => f.write_str("OUT_DIR is not set: call this from a build script"),
            Error::Prefix { prefix, wrong } => {
                let rule = match wrong {
                    '0'..='9' => "a provider's name does not begin with a digit",
                    _ => "only letters, digits and `_` can be in a provider's name",
                };
                write!(f, "invalid prefix `{prefix}`: it has a {wrong:?}, and {rule}")
            }
            Error::CatalogPath(_) => f.write_str("the path of a catalog cannot be in a list of paths"),
            Error::Catalogs(errors) => {
                for (index, errors) in errors.iter().enumerate() {
                    let separator = if index == 0 { "" } else { "\n" };
                    write!(f, "{separator}{errors}")?;
                }
                Ok(())
            }
            Error::Lower(error) => error.fmt(f),
            Error::Write { path, .. } => write!(f, "cannot write {}", path.display()),
            Error::Compiler(_) => f.write_str("the generated C does not compile"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::CatalogPath(error) => Some(error),
            Error::Write { error, .. } => Some(error),
            Error::Compiler(error) => Some(error),
            _ => None,
        }
    }
}
