//! The front end for C and C++: what an application includes, compiles and links.

mod build_files;
mod dtrace;
mod fast;
mod header;
mod license;
mod names;
mod options;
mod source;
mod stack;

use lttng_catalog::Catalog;
use lttng_catalog::lowered::{Program, Provider};

use crate::{Error, GeneratedFile, lttng};

pub use build_files::BuildFile;
pub use license::License;
pub use options::COptions;

/// The files for a program in C or C++.
///
/// For each catalog there is a header that the application includes, `NAME-trace.h`, and for each provider a header in LTTng's
/// macros, `PROVIDER-tp.h`, and a C file to compile, `PROVIDER-tp.c`. [`COptions`] adds others.
///
/// Nothing is recorded, and neither LTTng-UST nor anything else is needed, unless `USE_LTTNG` or `USE_USDT` is defined
/// where they are compiled.
///
/// An event `expire_del` of a provider `valkey_db` has these functions and macros:
///
/// | call | does |
/// |---|---|
/// | `trace_valkey_db_expire_del(…)` | emits the event; its arguments are evaluated only while a tracer wants it |
/// | `trace_valkey_db_expire_del_enabled()` | whether a tracer wants it |
/// | `trace_valkey_db_expire_del_start()` | fires the start probe, if the catalog has `entry = true` |
/// | `trace_valkey_db_expire_del_stopwatch()` | with [`COptions::stopwatches`], begins to measure a duration |
/// | `trace_valkey_db_expire_del_stop(BEGAN, …)` | emits the event with the time since then; the other arguments are as above |
///
/// ```
/// use lttng_provider_build::{COptions, c_sources};
///
/// let files = c_sources(&[lttng_catalog::valkey()], &COptions::default()).unwrap();
/// let header = files.iter().find(|file| file.name == "valkey-trace.h").unwrap();
/// assert!(header.text.contains("#define trace_valkey_db_expire_del(...)"));
/// assert_eq!(files.iter().filter(|file| file.is_c_source()).count(), 6);
/// ```
pub fn c_sources(catalogs: &[Catalog], options: &COptions) -> Result<Vec<GeneratedFile>, Error> {
    let program = Program::lower(catalogs, "")?;
    program.check_c_names()?;
    let mut files = Vec::new();
    if options.fast {
        let text = include_str!("lttng_fast.h").to_owned();
        files.push(GeneratedFile { name: "lttng_fast.h".to_owned(), text });
    }
    for catalog in catalogs {
        let own = |provider: &&Provider<'_>| std::ptr::eq(provider.catalog, catalog);
        let providers: Vec<_> = program.providers.iter().filter(own).collect();
        files.push(header::header(catalog, &providers, options));
        files.extend(options.dtrace_macros.then(|| dtrace::header(catalog, &providers)));
        files.extend(options.build_files.iter().map(|kind| kind.file(catalog, &providers, options.fast)));
        for (index, provider) in providers.iter().enumerate() {
            let more = if index == 0 { source::shared(catalog, &providers, options) } else { String::new() };
            files.extend([lttng::header(provider), source::source(provider, options, &more)]);
        }
    }
    Ok(files.into_iter().map(|file| options.license.put_on(file)).collect())
}
