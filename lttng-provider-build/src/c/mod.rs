//! The front end for C and C++: what an application includes, compiles and links.

mod build_files;
mod dtrace;
mod emit;
mod header;
mod probe;
mod signature;
mod source;
mod switch;

use lttng_catalog::Catalog;
use lttng_catalog::lowered::{Program, Provider};

use crate::{Error, GeneratedFile, lttng, usdt};

/// The files for a program in C or C++.
///
/// For each catalog there is a header that the application includes, `NAME-trace.h`, or `NAME-dtrace.h`
/// with macros as `dtrace -h` makes them, and fragments for pkg-config, make and CMake, `NAME-trace.pc`, `.mk` and `.cmake`; for each provider a C file to compile, `PROVIDER.c`. The other files are
/// included by these.
///
/// Nothing is recorded, and neither LTTng-UST nor anything else is needed, unless `USE_LTTNG` or `USE_USDT` is defined
/// where they are compiled.
///
/// An event `expire_del` of a provider `valkey_db` has these functions and macros:
///
/// | call | does |
/// |---|---|
/// | `trace_valkey_db_expire_del(…)` | emits the event; its arguments are evaluated only while it is recorded |
/// | `trace_valkey_db_expire_del_with_lengths(…)` | the same, with a length after each text, if it has any |
/// | `trace_valkey_db_expire_del_start()` | fires the start probe, if the catalog has `entry = true` |
/// | `trace_valkey_db_expire_del_stopwatch()` | begins to measure, if the event has a duration; fires the start probe, if any |
/// | `trace_valkey_db_expire_del_stop(BEGAN, …)` | emits the event with the time since then; the other arguments are as above |
/// | `trace_valkey_db_expire_del_enabled()` | whether it is recorded: a tracer wants it, and it is not forced off |
/// | `trace_valkey_db_expire_del_force_off()` | keeps it off while the program runs, whatever tracers ask for |
/// | `trace_valkey_db_expire_del_release()` | lets tracers decide again |
///
/// The last two may be called by any thread at any time, and cost nothing while the event is not recorded. For all events
/// of the catalog `valkey` there are `valkey_trace_force_off()`, `valkey_trace_release()` and
/// `valkey_trace_toggle_on_signal(SIGUSR2)`.
///
/// ```
/// let files = lttng_provider_build::c_sources(&[lttng_catalog::valkey()]).unwrap();
/// let header = files.iter().find(|file| file.name == "valkey-trace.h").unwrap();
/// assert!(header.text.contains("#define trace_valkey_db_expire_del(...)"));
/// assert_eq!(files.iter().filter(|file| file.is_c_source()).count(), 6);
/// ```
pub fn c_sources(catalogs: &[Catalog]) -> Result<Vec<GeneratedFile>, Error> {
    let program = Program::lower(catalogs, "")?;
    program.check_c_names()?;
    let support = ("lttng_application.h", include_str!("lttng_application.h"));
    let mut files = vec![
        GeneratedFile { name: support.0.to_owned(), text: support.1.to_owned() },
        lttng::support(),
        usdt::support_for_c(),
    ];
    for catalog in catalogs {
        let own = |provider: &&Provider<'_>| std::ptr::eq(provider.catalog, catalog);
        let providers: Vec<_> = program.providers.iter().filter(own).collect();
        files.push(header::header(catalog, &providers));
        files.push(dtrace::header(catalog, &providers));
        files.extend(build_files::build_files(catalog, &providers));
        let mut switch = Some(switch::functions(catalog, &providers));
        for provider in &providers {
            let source = source::source(provider, &switch.take().unwrap_or_default());
            files.extend([lttng::header(provider), source]);
        }
    }
    Ok(files)
}
