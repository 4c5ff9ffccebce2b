//! The edge: reads catalogs, writes files, runs the C compiler and talks to Cargo.

use std::error::Error as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::{env, fmt, fs, io, process};

use lttng_catalog::{Catalog, Errors};

use crate::version::GENERATED;
use crate::{BackEnds, Clash, GeneratedFile, Options, generate};

/// Compiles one catalog, with all options at their defaults; see [`Builder::compile`].
pub fn compile(catalog: impl AsRef<Path>) {
    Builder::new().catalog(catalog).compile();
}

/// Names a catalog that another crate compiles, in the build script of a crate that emits its events:
/// `#[traced]` and the derive macros then find it without `catalog = "…"` at each use.
///
/// ```no_run
/// lttng_provider_build::use_catalog("../shop/catalog.toml");
/// ```
pub fn use_catalog(catalog: impl AsRef<Path>) {
    let builder = Builder::new().catalog(catalog);
    or_end_build(builder.read_catalogs().and_then(|_| builder.name_catalogs()));
}

/// Compiles catalogs into LTTng-UST providers and the Rust types of their events.
///
/// ```no_run
/// lttng_provider_build::Builder::new()
///     .catalog("catalogs/requests.toml")
///     .catalog("catalogs/storage.toml")
///     .prefix("acme_")
///     .compile();
/// ```
#[derive(Clone, Debug, Default)]
pub struct Builder {
    catalogs: Vec<PathBuf>,
    prefix: String,
    output: Option<PathBuf>,
}

impl Builder {
    /// A builder without a catalog.
    pub fn new() -> Self {
        Builder::default()
    }

    /// Adds a catalog: a path relative to the crate's folder.
    pub fn catalog(mut self, path: impl AsRef<Path>) -> Self {
        self.catalogs.push(path.as_ref().to_owned());
        self
    }

    /// Puts a prefix before the name of every provider as LTTng sees it; in Rust the names stay. Two programs
    /// that use one catalog can so be told apart in a trace.
    pub fn prefix(mut self, prefix: &str) -> Self {
        prefix.clone_into(&mut self.prefix);
        self
    }

    /// Writes the generated sources to this folder and not to Cargo's `OUT_DIR`, e.g. to read them or to keep
    /// them. `include_events!` looks in `OUT_DIR`; use `include!` with the path of `events.rs` then.
    pub fn output(mut self, folder: impl AsRef<Path>) -> Self {
        self.output = Some(folder.as_ref().to_owned());
        self
    }

    /// Does it all, for a build script: writes the sources, compiles the C if tracing is on, tells Cargo what to
    /// link and to watch. What is wrong ends the build with a line for each error.
    ///
    /// A build script calls it once, with all catalogs: a second call would take the place of the first.
    pub fn compile(self) {
        or_end_build(self.try_compile());
    }

    /// As [`compile`](Builder::compile), for a build script that wants to see the error.
    pub fn try_compile(self) -> Result<(), Error> {
        let back_ends = BackEnds { lttng: runtime_has("LTTNG")?, usdt: runtime_has("USDT")? };
        let runtime = env::var("DEP_LTTNG_PROVIDER_GENERATED").unwrap_or_default();
        if runtime != GENERATED.to_string() {
            return Err(Error::AnotherRuntime { runtime });
        }
        static COMPILED: AtomicBool = AtomicBool::new(false);
        if COMPILED.swap(true, Ordering::Relaxed) {
            return Err(Error::CompiledTwice);
        }
        if let Some(wrong) = wrong_in_prefix(&self.prefix) {
            return Err(Error::Prefix { prefix: self.prefix, wrong });
        }
        let catalogs = self.read_catalogs()?;
        self.name_catalogs()?;
        let files = generate(&catalogs, &Options { back_ends, prefix: self.prefix })?;
        let folder = match self.output {
            Some(folder) => folder,
            None => env::var_os("OUT_DIR").map(PathBuf::from).ok_or(Error::NotABuildScript)?,
        };
        write(&folder, &files)?;
        if back_ends.lttng {
            compile_c(&folder, &files)?;
        }
        Ok(())
    }

    /// Tells the derive macros in the crate which catalogs it has.
    fn name_catalogs(&self) -> Result<(), Error> {
        let paths = env::join_paths(&self.catalogs).map_err(Error::CatalogPath)?;
        println!("cargo::rustc-env=LTTNG_PROVIDER_CATALOGS={}", paths.display());
        Ok(())
    }

    fn read_catalogs(&self) -> Result<Vec<Catalog>, Error> {
        let read = |path: &PathBuf| {
            println!("cargo::rerun-if-changed={}", path.display());
            Catalog::read(path)
        };
        let (catalogs, errors): (Vec<_>, Vec<_>) = self.catalogs.iter().map(read).partition(Result::is_ok);
        let errors: Vec<Errors> = errors.into_iter().filter_map(Result::err).collect();
        if errors.is_empty() {
            Ok(catalogs.into_iter().flatten().collect())
        } else {
            Err(Error::Catalogs(errors))
        }
    }
}

/// Whether `lttng-provider` was built with a back end, which it says through Cargo.
fn runtime_has(back_end: &str) -> Result<bool, Error> {
    match env::var(format!("DEP_LTTNG_PROVIDER_{back_end}")).as_deref() {
        Ok("on") => Ok(true),
        Ok(_) => Ok(false),
        Err(_) => Err(Error::NoRuntime),
    }
}

/// What keeps a name with this prefix from being a C identifier.
fn wrong_in_prefix(prefix: &str) -> Option<char> {
    let first = prefix.chars().next().filter(char::is_ascii_digit);
    first.or_else(|| prefix.chars().find(|c| !c.is_ascii_alphanumeric() && *c != '_'))
}

/// Ends a build script with a line for each error.
fn or_end_build(result: Result<(), Error>) {
    if let Err(error) = result {
        let mut text = error.to_string();
        let mut source = error.source();
        while let Some(reason) = source {
            text.push_str(&format!(": {reason}"));
            source = reason.source();
        }
        for line in text.lines() {
            println!("cargo::error={line}");
        }
        process::exit(1);
    }
}

/// Writes what has changed, so that nothing is compiled again for the rest.
fn write(folder: &Path, files: &[GeneratedFile]) -> Result<(), Error> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        |error| Error::Write { path, error }
    };
    fs::create_dir_all(folder).map_err(failed(folder))?;
    for file in files {
        let path = folder.join(&file.name);
        if fs::read_to_string(&path).is_ok_and(|text| text == file.text) {
            continue;
        }
        fs::write(&path, &file.text).map_err(failed(&path))?;
    }
    Ok(())
}

fn compile_c(folder: &Path, files: &[GeneratedFile]) -> Result<(), Error> {
    let include = env::var_os("DEP_LTTNG_PROVIDER_INCLUDE").unwrap_or_default();
    let package = env::var("CARGO_PKG_NAME").unwrap_or_default().replace('-', "_");
    cc::Build::new()
        .files(files.iter().filter(|file| file.is_c_source()).map(|file| folder.join(&file.name)))
        .include(folder)
        .includes(env::split_paths(&include))
        // Two libraries in one program may have two versions of a catalog; neither sees the other's symbols.
        .flag_if_supported("-fvisibility=hidden")
        // LTTng knows a provider by what its constructors register, so all of it belongs into the program,
        // whether or not the program emits each event.
        .link_lib_modifier("+whole-archive")
        .try_compile(&format!("lttng_provider_{package}"))
        .map_err(Error::Compiler)
}

/// Why there is no provider. [`source`](std::error::Error::source) has what a file or a tool said.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The crate does not depend on `lttng-provider`, which knows whether tracing is on.
    NoRuntime,
    /// The crate's `lttng-provider` is not of the version that generated code is made for.
    AnotherRuntime {
        /// What it says of itself.
        runtime: String,
    },
    /// The build script has compiled catalogs before.
    CompiledTwice,
    /// Cargo has not run the program as a build script.
    NotABuildScript,
    /// The prefix is not part of a C identifier.
    Prefix {
        /// The whole prefix.
        prefix: String,
        /// What is wrong with it.
        wrong: char,
    },
    /// A catalog's path that cannot be in a list of paths.
    CatalogPath(env::JoinPathsError),
    /// Catalogs that cannot be read or have errors.
    Catalogs(Vec<Errors>),
    /// Providers that cannot be in one program.
    Clash(Clash),
    /// A file that cannot be written.
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// What the C compiler says.
    Compiler(cc::Error),
}

impl From<Clash> for Error {
    fn from(clash: Clash) -> Self {
        Error::Clash(clash)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NoRuntime => f.write_str(
                "a crate with a catalog needs `lttng-provider` among its [dependencies], and calls this from its build \
                 script",
            ),
            Error::AnotherRuntime { runtime } => {
                let runtime = if runtime.is_empty() { "an older one" } else { runtime };
                write!(
                    f,
                    "`lttng-provider` takes generated code of version {runtime}, and this `lttng-provider-build` makes \
                     version {GENERATED}: use the same version of both crates"
                )
            }
            Error::CompiledTwice => f.write_str(
                "this build script has compiled catalogs before: name all of them at once, as in \
                 `Builder::new().catalog(\"a.toml\").catalog(\"b.toml\").compile()`",
            ),
            Error::NotABuildScript => f.write_str("OUT_DIR is not set: call this from a build script"),
            Error::Prefix { prefix, wrong } => {
                let rule = match wrong {
                    '0'..='9' => "a provider's name does not begin with a digit",
                    _ => "only letters, digits and `_` can be in a provider's name",
                };
                write!(f, "the prefix `{prefix}` has a {wrong:?}: {rule}")
            }
            Error::CatalogPath(_) => f.write_str("the path of a catalog cannot be in a list of paths"),
            Error::Catalogs(errors) => {
                for (index, errors) in errors.iter().enumerate() {
                    let separator = if index == 0 { "" } else { "\n" };
                    write!(f, "{separator}{errors}")?;
                }
                Ok(())
            }
            Error::Clash(clash) => clash.fmt(f),
            Error::Write { path, .. } => write!(f, "{} cannot be written", path.display()),
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
