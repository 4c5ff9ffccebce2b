//! Files that commands read and write.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

use lttng_catalog::{Catalog, Errors};

use crate::outcome::Trouble;

/// The largest text that is read: a hundred times the size of large programs' catalogs and headers.
const LARGEST: u64 = 1 << 20;

/// Reads a catalog, and the advice in the file beside it, if there is one.
pub fn catalog(path: &Path) -> Result<Catalog, Trouble> {
    let failed = |errors: Errors| Trouble::Failed(errors.to_string());
    let mut catalog = Catalog::parse(&path.display().to_string(), &text(path)?).map_err(failed)?;
    let advice = path.with_extension("advice.toml");
    if advice.is_file() {
        catalog.add_advice(&advice.display().to_string(), &text(&advice)?).map_err(failed)?;
    }
    Ok(catalog)
}

/// Reads a text; bytes that are not UTF-8, as in old comments, are replaced.
pub fn text(path: &Path) -> Result<String, Trouble> {
    let failed = |error| Trouble::file(path, "cannot be read", &error);
    let file = File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > LARGEST {
        return Err(Trouble::Failed(format!(
            "{}: too large: a catalog or a header has at most 1 MiB",
            path.display()
        )));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Writes to a file, or to the standard output if none is named.
pub fn write(path: Option<&Path>, text: &str) -> Result<(), Trouble> {
    match path {
        None => {
            let mut out = std::io::stdout().lock();
            out.write_all(text.as_bytes())?;
            Ok(out.flush()?)
        }
        Some(path) => {
            let written = File::create(path).and_then(|mut file| file.write_all(text.as_bytes()));
            written.map_err(|error| Trouble::file(path, "cannot be written", &error))
        }
    }
}
