//! The edge: reads catalogs, writes files, runs the C compiler and talks to Cargo.

use std::error::Error as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::{env, fs, process};

use lttng_catalog::Catalog;

use crate::catalog_source::CatalogSource;
use crate::runtime::Runtime;
use crate::{Error, GeneratedFile, Options, generate};

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
    Builder::new().catalog(catalog).use_catalogs();
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
    catalogs: Vec<CatalogSource>,
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
        self.catalogs.push(CatalogSource::File(path.as_ref().to_owned()));
        self
    }

    /// Adds a catalog that a crate hands out as text; `name` is its file name, for errors.
    ///
    /// ```no_run
    /// lttng_provider_build::Builder::new().catalog_text("valkey.toml", lttng_catalog::VALKEY).compile();
    /// ```
    pub fn catalog_text(mut self, name: &str, text: &str) -> Self {
        self.catalogs.push(CatalogSource::Text { name: name.to_owned(), text: text.to_owned() });
        self
    }

    /// Puts a prefix before the name of every provider as LTTng sees it; the names in Rust stay. It tells two
    /// programs with the same catalog apart in a trace.
    pub fn prefix(mut self, prefix: &str) -> Self {
        prefix.clone_into(&mut self.prefix);
        self
    }

    /// Writes the generated sources to this folder instead of Cargo's `OUT_DIR`, e.g. to read or to keep them.
    /// `include_events!` looks in `OUT_DIR`, so use `include!` with the path of `events.rs` then.
    pub fn output(mut self, folder: impl AsRef<Path>) -> Self {
        self.output = Some(folder.as_ref().to_owned());
        self
    }

    /// Writes the sources, compiles the C if tracing is on, and tells Cargo what to link and to watch. Errors end
    /// the build, with a line for each.
    ///
    /// A build script calls it once, with all catalogs: a second call would overwrite the results of the first.
    pub fn compile(self) {
        or_end_build(self.try_compile());
    }

    /// As [`compile`](Builder::compile), for a build script that wants to see the error.
    pub fn try_compile(self) -> Result<(), Error> {
        let Runtime { back_ends, only_documentation } = Runtime::ask()?;
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
            None => {
                warn_if_not_included();
                out_dir()?
            }
        };
        write(&folder, &files)?;
        if back_ends.lttng && !only_documentation {
            compile_c(&folder, &files)?;
        }
        Ok(())
    }

    /// Names catalogs that other crates compile, as [`use_catalog`] does for one: the derive macros then find them.
    ///
    /// ```no_run
    /// lttng_provider_build::Builder::new().catalog_text("valkey.toml", lttng_catalog::VALKEY).use_catalogs();
    /// ```
    pub fn use_catalogs(self) {
        or_end_build(self.read_catalogs().and_then(|_| self.name_catalogs()));
    }

    /// Tells the derive macros in the crate which catalogs it has.
    fn name_catalogs(&self) -> Result<(), Error> {
        let mut files = Vec::new();
        for (index, catalog) in self.catalogs.iter().enumerate() {
            files.push(catalog.file(&out_dir()?.join(format!("catalog-{index}")))?);
        }
        let paths = env::join_paths(files).map_err(Error::CatalogPath)?;
        println!("cargo::rustc-env=LTTNG_PROVIDER_CATALOGS={}", paths.to_string_lossy());
        Ok(())
    }

    fn read_catalogs(&self) -> Result<Vec<Catalog>, Error> {
        // Without any such line, Cargo would run the build script again at every change of the package.
        println!("cargo::rerun-if-env-changed=OUT_DIR");
        let mut catalogs = Vec::new();
        let mut errors = Vec::new();
        for source in &self.catalogs {
            match source.read() {
                Ok(catalog) => catalogs.push(catalog),
                Err(found) => errors.push(found),
            }
        }
        if errors.is_empty() { Ok(catalogs) } else { Err(Error::Catalogs(errors)) }
    }
}

fn out_dir() -> Result<PathBuf, Error> {
    env::var_os("OUT_DIR").map(PathBuf::from).ok_or(Error::NotABuildScript)
}

/// The compiler would only say that it does not know a crate with the name of the provider.
fn warn_if_not_included() {
    let sources = env::var_os("CARGO_MANIFEST_DIR").map(|folder| Path::new(&folder).join("src"));
    if sources.is_some_and(|sources| sources.is_dir() && !includes_events(&sources)) {
        println!("cargo::rerun-if-changed=src");
        println!(
            "cargo::warning=no file in src/ brings in the events of the catalog: add `lttng_provider::include_events!();` to \
             src/main.rs or src/lib.rs"
        );
    }
}

fn includes_events(folder: &Path) -> bool {
    let names = |text: String| text.contains("include_events!") || text.contains("/events.rs");
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).any(|path| {
        match path.extension() {
            Some(ending) if ending == "rs" => fs::read_to_string(&path).is_ok_and(names),
            _ => path.is_dir() && includes_events(&path),
        }
    })
}

/// The first character that keeps a name with this prefix from being a C identifier.
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

/// Writes the files that differ, so that nothing is recompiled for the others.
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
        // With `-flto` in CFLAGS, GCC's objects would be of use to GCC's linker alone.
        .flag_if_supported("-ffat-lto-objects")
        // LTTng knows a provider by what its constructors register, so a program must contain all of it,
        // whether or not it emits each event.
        .link_lib_modifier("+whole-archive")
        .try_compile(&format!("lttng_provider_{package}"))
        .map_err(Error::Compiler)
}
