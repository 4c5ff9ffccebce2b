//! Where tables are kept: a folder.
//!
//! Files appear whole or not at all, by one rename. Paths are relative, with `/`.

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

/// How long to wait for another process that writes the same host.
const PATIENCE: Duration = Duration::from_secs(120);

/// Where tables are kept.
pub struct Store {
    root: PathBuf,
}

/// Held while a process writes something; a process that ends lets go of it.
pub struct Lock {
    _file: File,
}

impl Store {
    /// What the user names: a folder, and not a bucket.
    pub fn open(name: &Path) -> Result<Store, String> {
        match name.to_str().and_then(|name| name.split_once("://")) {
            None => Ok(Store { root: name.to_owned() }),
            Some(("file", path)) => Ok(Store { root: path.into() }),
            Some((scheme, _)) => {
                let name = name.display();
                Err(format!(
                    "{name}: {scheme}:// is not supported: name a folder, and copy or mount what is elsewhere"
                ))
            }
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

    /// Creates the folder, if it does not exist.
    pub fn create(&self) -> Result<(), String> {
        create_folder(&self.root)
    }

    /// Where a file is.
    pub fn local(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// The content of a small file, if it exists.
    pub fn get(&self, path: &str) -> Result<Option<Vec<u8>>, String> {
        match fs::read(self.local(path)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(failed(&self.local(path), "read", &error)),
        }
    }

    /// Writes a small file, in place of the one that has its name.
    pub fn put(&self, path: &str, bytes: &[u8]) -> Result<(), String> {
        write_whole(&self.local(path), bytes)
    }

    /// Writes a small file unless its name is taken, and says whether it did.
    pub fn put_new(&self, path: &str, bytes: &[u8]) -> Result<bool, String> {
        let path = self.local(path);
        let new = whole(&path, bytes)?;
        // Unlike a rename, a link replaces nothing.
        let linked = fs::hard_link(&new, &path);
        _ = fs::remove_file(&new);
        match linked {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(failed(&path, "write", &error)),
        }
    }

    /// Moves a complete file to its place.
    pub fn publish(&self, complete: &Path, path: &str) -> Result<(), String> {
        let path = self.local(path);
        // Retention may remove the folder in between.
        loop {
            let folder = path.parent().unwrap_or(&self.root);
            fs::create_dir_all(folder).map_err(|error| failed(folder, "create", &error))?;
            match rename(complete, &path) {
                Err(error) if is_absent(&error) && complete.exists() => {}
                renamed => return renamed.map_err(|error| failed(&path, "write", &error)),
            }
        }
    }

    /// Whether a file exists.
    pub fn has(&self, path: &str) -> bool {
        self.local(path).exists()
    }

    /// The names of files and folders in a folder, sorted; none if it does not exist.
    pub fn names(&self, folder: &str) -> Result<Vec<String>, String> {
        let folder = self.local(folder);
        let mut names: Vec<String> = match fs::read_dir(&folder) {
            Ok(found) => found.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect(),
            Err(error) if is_absent(&error) => Vec::new(),
            Err(error) => return Err(failed(&folder, "list", &error)),
        };
        names.sort();
        Ok(names)
    }

    /// Removes a file, and the folders of its partition if they are empty then; that it is gone already is no error.
    pub fn remove(&self, path: &str) -> Result<(), String> {
        match fs::remove_file(self.local(path)) {
            Err(error) if !is_absent(&error) => return Err(failed(&self.local(path), "remove", &error)),
            _ => {}
        }
        let is_partition =
            |folder: &&Path| folder.file_name().is_some_and(|name| name.as_encoded_bytes().contains(&b'='));
        let partitions = Path::new(path).ancestors().skip(1).filter(is_partition);
        partitions.for_each(|folder| _ = fs::remove_dir(self.root.join(folder)));
        Ok(())
    }

    /// Removes a folder with all that is in it, first of all its name.
    pub fn remove_folder(&self, folder: &str) -> Result<(), String> {
        let (path, trash) = (self.local(folder), self.local("_ltt/trash"));
        fs::create_dir_all(&trash).map_err(|error| failed(&trash, "create", &error))?;
        let gone = trash.join(folder.replace('/', ","));
        _ = fs::remove_dir_all(&gone);
        match fs::rename(&path, &gone) {
            Err(error) if is_absent(&error) => return Ok(()),
            renamed => renamed.map_err(|error| failed(&path, "remove", &error))?,
        }
        fs::remove_dir_all(&gone).map_err(|error| failed(&gone, "remove", &error))
    }

    /// Where files are written until they are complete; the folder is made.
    pub fn staging(&self, name: &str) -> Result<PathBuf, String> {
        let folder = self.local("_ltt/staging").join(name);
        fs::create_dir_all(&folder).map_err(|error| failed(&folder, "create", &error))?;
        Ok(folder)
    }

    /// Waits until no other process holds the lock of this name.
    pub fn lock(&self, name: &str) -> Result<Lock, String> {
        lock(&self.local("_ltt").join(name), PATIENCE)
    }
}

/// Locks a file, or says that another process has.
pub fn lock_now(path: &Path) -> Result<Lock, String> {
    lock(path, Duration::ZERO)
}

fn lock(path: &Path, patience: Duration) -> Result<Lock, String> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| failed(folder, "create", &error))?;
    }
    let file = File::create(path).map_err(|error| failed(path, "create", &error))?;
    let deadline = Instant::now() + patience;
    loop {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(Lock { _file: file }),
            Err(Errno::WOULDBLOCK) if Instant::now() < deadline => sleep(Duration::from_millis(20)),
            Err(Errno::WOULDBLOCK) => {
                return Err(format!(
                    "{}: another process holds this lock: try again when it has ended",
                    path.display()
                ));
            }
            Err(error) => return Err(failed(path, "lock", &error.into())),
        }
    }
}

/// Writes a file by a rename.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let new = whole(path, bytes)?;
    rename(&new, path).map_err(|error| failed(path, "write", &error))
}

/// Writes a file under another name, completely, and returns that.
fn whole(path: &Path, bytes: &[u8]) -> Result<PathBuf, String> {
    let folder = path.parent().unwrap_or(path);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let new = folder.join(format!(".{name}.{}.{:?}", std::process::id(), std::thread::current().id()));
    let written = fs::create_dir_all(folder).and_then(|()| File::create(&new)).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    written.map_err(|error| {
        _ = fs::remove_file(&new);
        failed(path, "write", &error)
    })?;
    Ok(new)
}

/// Renames a file, and waits until that is on the disk: then its source may be removed.
fn rename(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::rename(from, to)?;
    to.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

/// Creates the folder that is written, if it does not exist.
fn create_folder(root: &Path) -> Result<(), String> {
    if root.metadata().is_ok_and(|found| !found.is_dir()) {
        return Err(format!("{}: it is not a folder; name one, which is created", root.display()));
    }
    // All files in such a folder are streams, and what is below it may be read as another trace.
    let whole = std::path::absolute(root).unwrap_or_else(|_| root.to_owned());
    if let Some(trace) = whole.ancestors().find(|folder| folder.join("metadata").is_file()) {
        let (root, trace) = (root.display(), trace.display());
        return Err(format!("{root}: it is within the trace {trace}; choose another folder"));
    }
    // Tables of older versions were replaced in place: what they hold is not known packet by packet.
    if root.join("_exported").is_dir() {
        let root = root.display();
        return Err(format!("{root}: an older ltt-parquet wrote these tables; export to another folder"));
    }
    fs::create_dir_all(root).map_err(|error| failed(root, "create", &error))
}

fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

pub fn failed(path: &Path, what: &str, error: &std::io::Error) -> String {
    format!("{}: cannot {what} it: {error}", path.display())
}
