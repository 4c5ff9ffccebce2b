//! Where a catalog comes from.

use std::fs;
use std::path::{Path, PathBuf};

use lttng_catalog::{Catalog, Errors};

use crate::Error;

/// A file, or a text that a crate hands out.
#[derive(Clone, Debug)]
pub(crate) enum CatalogSource {
    File(PathBuf),
    Text { name: String, text: String },
}

impl CatalogSource {
    /// Reads the catalog, and has Cargo watch its file.
    pub(crate) fn read(&self) -> Result<Catalog, Errors> {
        match self {
            CatalogSource::File(path) => {
                println!("cargo::rerun-if-changed={}", path.display());
                Catalog::read(path)
            }
            CatalogSource::Text { name, text } => Catalog::parse(name, text),
        }
    }

    /// A file with the catalog, for the derive macros; a text is written to `folder`.
    pub(crate) fn file(&self, folder: &Path) -> Result<PathBuf, Error> {
        match self {
            CatalogSource::File(path) => Ok(path.clone()),
            CatalogSource::Text { name, text } => {
                let path = folder.join(Path::new(name).file_name().unwrap_or_default());
                let failed = |error| Error::Write { path: path.clone(), error };
                fs::create_dir_all(folder).map_err(failed)?;
                fs::write(&path, text).map_err(failed)?;
                Ok(path)
            }
        }
    }
}
