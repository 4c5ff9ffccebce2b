//! Finding and reading the catalogs of the crate that uses a macro.
//!
//! `lttng-provider-build` names the catalogs that it has compiled in `LTTNG_PROVIDER_CATALOGS`, which Cargo
//! sets while it compiles the crate, and Cargo recompiles the crate when one of them changes. An attribute
//! can name another catalog, for events that another crate has compiled. Paths are relative to the folder of
//! the crate's `Cargo.toml`.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::{env, fs};

use lttng_catalog::{Catalog, Enumeration, Event, Provider, did_you_mean_one_of, identifier};
use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::LitStr;

use crate::target::Target;

const VARIABLE: &str = "LTTNG_PROVIDER_CATALOGS";

/// The catalogs that a macro looks in.
pub(crate) struct Catalogs {
    catalogs: Vec<Arc<Catalog>>,
    /// As messages name them.
    files: String,
    /// Code that makes the compiler watch a catalog that no build script watches.
    pub(crate) watch: TokenStream,
}

impl Catalogs {
    /// Reads the catalog that an attribute names, or those that the build script has compiled.
    pub(crate) fn read(named: Option<&LitStr>) -> syn::Result<Catalogs> {
        let span = named.map_or_else(Span::call_site, LitStr::span);
        let paths: Vec<PathBuf> = match named {
            Some(path) => vec![path.value().into()],
            None => env::var_os(VARIABLE).iter().flat_map(env::split_paths).collect(),
        };
        if paths.is_empty() {
            let message = "the crate has no catalog: compile one in its build script with \
                           `lttng_provider_build::compile(\"…\")`, or name one with `catalog = \"…\"`";
            return Err(syn::Error::new(span, message));
        }
        let folder = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
        let catalogs: Result<Vec<_>, _> = paths.iter().map(|path| read(&folder, path)).collect();
        Ok(Catalogs {
            catalogs: catalogs.map_err(|message| syn::Error::new(span, message))?,
            files: paths.iter().map(|path| format!("`{}`", path.display())).collect::<Vec<_>>().join(", "),
            watch: named.map(watch).unwrap_or_default(),
        })
    }

    /// The event that a path names.
    pub(crate) fn event(&self, target: &Target) -> syn::Result<(&Provider, &Event)> {
        let provider = self.provider(target)?;
        let event = provider.events.iter().find(|event| target.item == identifier(&event.name));
        let names = provider.events.iter().map(|event| event.name.as_str());
        event.map(|event| (provider, event)).ok_or_else(|| unknown(provider, "event", target, names))
    }

    /// The enum that a path names.
    pub(crate) fn enumeration(&self, target: &Target) -> syn::Result<&Enumeration> {
        let provider = self.provider(target)?;
        let names: Vec<String> = provider.enums.iter().map(Enumeration::rust_name).collect();
        let found = provider.enums.iter().find(|enumeration| target.item == enumeration.rust_name());
        found.ok_or_else(|| {
            // The catalog's name of an enum is not that of its type.
            let same = provider.enums.iter().find(|enumeration| target.item == enumeration.name);
            let Some(same) = same.map(Enumeration::rust_name) else {
                return unknown(provider, "enum", target, names.iter().map(String::as_str));
            };
            let message = format!(
                "the type of the enum `{}` is called `{same}`: write `#[event({}::{same})]`",
                target.item, target.provider
            );
            syn::Error::new(target.item.span(), message)
        })
    }

    fn provider(&self, target: &Target) -> syn::Result<&Provider> {
        let all = || self.catalogs.iter().flat_map(|catalog| &catalog.providers);
        let found = all().find(|provider| target.provider == identifier(&provider.name));
        found.ok_or_else(|| {
            let name = target.provider.to_string();
            let near = did_you_mean_one_of(&name, all().map(|provider| provider.name.as_str()));
            let message = format!("unknown provider `{name}` in {}{near}", self.files);
            syn::Error::new(target.provider.span(), message)
        })
    }
}

fn unknown<'n>(
    provider: &Provider,
    what: &str,
    target: &Target,
    names: impl Iterator<Item = &'n str> + Clone,
) -> syn::Error {
    let name = target.item.to_string();
    let near = did_you_mean_one_of(&name, names);
    let message = format!("the provider `{}` has no {what} `{name}` in the catalog{near}", provider.name);
    syn::Error::new(target.item.span(), message)
}

/// A cache of valid catalogs by their texts. A crate uses macros often and has few catalogs, and checking one takes
/// longer than the rest of a macro. The text is the key, because an editor runs macros in one process over many edits.
static VALID: Mutex<Vec<(String, Arc<Catalog>)>> = Mutex::new(Vec::new());

/// More catalogs than a crate has: beyond it, they are old edits.
const MOST_VALID: usize = 32;

fn read(folder: &Path, path: &Path) -> Result<Arc<Catalog>, String> {
    let file = path.display().to_string();
    let text = fs::read_to_string(folder.join(path)).map_err(|error| {
        format!("{file}: cannot read the catalog: {error}; its path is relative to the folder of Cargo.toml")
    })?;
    let mut valid = VALID.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, catalog)) = valid.iter().find(|(other, _)| *other == text) {
        return Ok(Arc::clone(catalog));
    }
    let catalog = Arc::new(Catalog::parse(&file, &text).map_err(|errors| errors.to_string())?);
    if valid.len() == MOST_VALID {
        valid.clear();
    }
    valid.push((text, Arc::clone(&catalog)));
    Ok(catalog)
}

/// Code whose only effect is to depend on the file.
fn watch(path: &LitStr) -> TokenStream {
    let file = if Path::new(&path.value()).is_absolute() {
        quote!(#path)
    } else {
        quote!(::core::concat!(::core::env!("CARGO_MANIFEST_DIR"), "/", #path))
    };
    quote!(
        const _: &[u8] = ::core::include_bytes!(#file);
    )
}
