//! The front end for C and C++: what an application includes, compiles and links.

use lttng_border::{Border, Clash};
use lttng_catalog::Catalog;

use crate::{GeneratedFile, lttng};

/// The files for a program in C or C++: a header to include for each catalog, a C file to compile for each provider, and
/// fragments for pkg-config and make that say how.
pub fn c_sources(catalogs: &[Catalog]) -> Result<Vec<GeneratedFile>, Clash> {
    let border = Border::lower(catalogs, "")?;
    border.check_c_names()?;
    let mut files = vec![lttng::support()];
    files.extend(border.providers.iter().flat_map(|p| [lttng::header(p), lttng::source_for_rust(p)]));
    Ok(files)
}
