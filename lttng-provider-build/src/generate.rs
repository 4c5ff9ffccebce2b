//! Catalogs in, named texts out: lowered once, and then only written out.

use lttng_catalog::Catalog;
use lttng_catalog::lowered::Program;

use crate::{BackEnds, Error, GeneratedFile, lttng, rust};

/// How to generate; start from the default, which has neither a back end nor a prefix.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// What events are recorded by; without a back end, the Rust does nothing and no C is generated.
    pub back_ends: BackEnds,
    /// The prefix of each provider's name, as tracers see it.
    pub prefix: String,
}

/// Turns catalogs into `events.rs`, the table `tracing.rs` that `lttng-provider-tracing` needs and, for LTTng-UST, a header
/// and a C file for each provider.
pub fn generate(catalogs: &[Catalog], options: &Options) -> Result<Vec<GeneratedFile>, Error> {
    let program = Program::lower(catalogs, &options.prefix)?;
    let mut files = vec![rust::events(&program, options.back_ends), rust::table(&program)];
    if options.back_ends.lttng {
        files.push(lttng::support());
        files.extend(program.providers.iter().flat_map(|provider| {
            [lttng::header(provider), lttng::source_for_rust(provider, options.back_ends.usdt)]
        }));
    }
    Ok(files)
}
