//! Where tables are kept: a folder, or a bucket of an object store.
//!
//! Files appear whole or not at all. Paths are relative, with `/`.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::time::Duration;

#[cfg(feature = "object-storage")]
mod bucket;
#[cfg(feature = "object-storage")]
mod client;
mod folder;
#[cfg(feature = "object-storage")]
mod lease;

pub use folder::{failed, lock_now, write_whole};

/// How long to wait for another process that writes the same host.
const PATIENCE: Duration = Duration::from_secs(120);

/// The schemes of buckets.
const BUCKETS: [&str; 6] = ["s3", "s3a", "gs", "az", "abfs", "abfss"];

/// What to do while a lock is held by others.
pub type Meanwhile<'m> = &'m mut dyn FnMut() -> Result<(), String>;

/// What a place of tables offers.
pub trait Place: Send + Sync {
    /// Makes sure that tables can be written.
    fn create(&self) -> Result<(), String>;

    /// The content of a small file, if it exists.
    fn get(&self, path: &str) -> Result<Option<Vec<u8>>, String>;

    /// Writes a small file, in place of the one that has its name.
    fn put(&self, path: &str, bytes: &[u8]) -> Result<(), String>;

    /// Writes a small file unless its name is taken, and says whether it did.
    fn put_new(&self, path: &str, bytes: &[u8]) -> Result<bool, String>;

    /// Moves a complete local file to its place.
    fn publish(&self, complete: &Path, path: &str) -> Result<(), String>;

    /// Where a file can be read: itself, or a copy of it in this folder.
    fn local(&self, path: &str, staging: &Path) -> Result<PathBuf, String>;

    /// Whether a file exists.
    fn has(&self, path: &str) -> Result<bool, String>;

    /// The names of files and folders in a folder, sorted; none if it does not exist.
    fn names(&self, folder: &str) -> Result<Vec<String>, String>;

    /// Removes files, and the folders of their partitions if they are empty then; that one is gone already is not an error.
    fn remove_all(&self, paths: &[String]) -> Result<(), String>;

    /// Removes a file, in the same way.
    fn remove(&self, path: &str) -> Result<(), String> {
        self.remove_all(&[path.to_owned()])
    }

    /// Removes a folder with all that is in it.
    fn remove_folder(&self, folder: &str) -> Result<(), String>;

    /// A local folder where files are written until they are complete; it is made.
    fn staging(&self, name: &str) -> Result<PathBuf, String>;

    /// Waits until no other process holds the lock of this name. What is held `meanwhile` is to be given back: the other process
    /// may wait for it.
    fn lock(&self, name: &str, meanwhile: Meanwhile<'_>) -> Result<Box<dyn Lock>, String>;

    /// Why nothing can be done here any more, e.g. because a server is gone.
    fn trouble(&self) -> Option<String> {
        None
    }
}

/// Held while a process writes something, until it is dropped; whoever is killed loses it.
pub trait Lock: Send {
    /// Fails if another process may have the lock by now.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}

/// Where tables are kept.
pub struct Store(Box<dyn Place>);

impl Deref for Store {
    type Target = dyn Place;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl Store {
    /// What the user names: a folder, or a bucket.
    pub fn open(name: &Path) -> Result<Store, String> {
        let folder = |path: &Path| Ok(Store(Box::new(folder::Folder::new(path))));
        match name.to_str().and_then(|text| Some((text, text.split_once("://")?))) {
            None => folder(name),
            Some((_, ("file", path))) => folder(path.as_ref()),
            Some((name, (scheme, _))) if BUCKETS.contains(&scheme) => bucket(name),
            Some((name, (scheme, _))) => Err(format!(
                "{name}: {scheme}:// is not supported: name a folder, or s3://, gs:// or az:// with a bucket"
            )),
        }
    }

    /// Tables that exist.
    pub fn open_tables(name: &Path) -> Result<Store, String> {
        let store = Store::open(name)?;
        match store.names("_ltt")?.is_empty() {
            true => Err(format!("{}: no tables of ltt-parquet here", name.display())),
            false => Ok(store),
        }
    }
}

#[cfg(feature = "object-storage")]
fn bucket(name: &str) -> Result<Store, String> {
    Ok(Store(Box::new(bucket::Bucket::open(name)?)))
}

#[cfg(not(feature = "object-storage"))]
fn bucket(name: &str) -> Result<Store, String> {
    Err(format!(
        "{name}: this program was built without object storage: build it with --features object-storage, or name a folder"
    ))
}
