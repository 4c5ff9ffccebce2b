//! Tables in a folder: files appear by one rename.

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::{Lock, Meanwhile, PATIENCE, Place};

/// A folder of tables.
pub struct Folder {
    root: PathBuf,
}

/// A lock of the system's: a process that ends lets go of it.
pub struct FileLock {
    _file: File,
}

impl Lock for FileLock {}

impl Folder {
    pub fn new(root: &Path) -> Folder {
        Folder { root: root.to_owned() }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }
}

impl Place for Folder {
    fn create(&self) -> Result<(), String> {
        create_folder(&self.root)
    }

    fn get(&self, path: &str) -> Result<Option<Vec<u8>>, String> {
        match fs::read(self.path(path)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(failed(&self.path(path), "read", &error)),
        }
    }

    fn put(&self, path: &str, bytes: &[u8]) -> Result<(), String> {
        write_whole(&self.path(path), bytes)
    }

    fn put_new(&self, path: &str, bytes: &[u8]) -> Result<bool, String> {
        let path = self.path(path);
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

    fn publish(&self, complete: &Path, path: &str) -> Result<(), String> {
        let path = self.path(path);
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

    fn local(&self, path: &str, _staging: &Path) -> Result<PathBuf, String> {
        Ok(self.path(path))
    }

    fn has(&self, path: &str) -> Result<bool, String> {
        let path = self.path(path);
        path.try_exists().map_err(|error| failed(&path, "read", &error))
    }

    fn names(&self, folder: &str) -> Result<Vec<String>, String> {
        let folder = self.path(folder);
        let mut names: Vec<String> = match fs::read_dir(&folder) {
            Ok(found) => found.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect(),
            Err(error) if is_absent(&error) => Vec::new(),
            Err(error) => return Err(failed(&folder, "list", &error)),
        };
        names.sort();
        Ok(names)
    }

    fn remove_all(&self, paths: &[String]) -> Result<(), String> {
        let is_partition =
            |folder: &&Path| folder.file_name().is_some_and(|name| name.as_encoded_bytes().contains(&b'='));
        for path in paths {
            match fs::remove_file(self.path(path)) {
                Err(error) if !is_absent(&error) => return Err(failed(&self.path(path), "remove", &error)),
                _ => {}
            }
            let partitions = Path::new(path).ancestors().skip(1).filter(is_partition);
            partitions.for_each(|folder| _ = fs::remove_dir(self.root.join(folder)));
        }
        Ok(())
    }

    fn remove_folder(&self, folder: &str) -> Result<(), String> {
        // Its name first: no reader sees half of it.
        let (path, trash) = (self.path(folder), self.path("_ltt/trash"));
        fs::create_dir_all(&trash).map_err(|error| failed(&trash, "create", &error))?;
        let gone = trash.join(folder.replace('/', ","));
        _ = fs::remove_dir_all(&gone);
        match fs::rename(&path, &gone) {
            Err(error) if is_absent(&error) => return Ok(()),
            renamed => renamed.map_err(|error| failed(&path, "remove", &error))?,
        }
        fs::remove_dir_all(&gone).map_err(|error| failed(&gone, "remove", &error))
    }

    fn staging(&self, name: &str) -> Result<PathBuf, String> {
        let folder = self.path("_ltt/staging").join(name);
        fs::create_dir_all(&folder).map_err(|error| failed(&folder, "create", &error))?;
        Ok(folder)
    }

    fn lock(&self, name: &str, meanwhile: Meanwhile<'_>) -> Result<Box<dyn Lock>, String> {
        Ok(Box::new(lock(&self.path("_ltt").join(name), PATIENCE, meanwhile)?))
    }
}

/// Locks a file, or says that another process has.
pub fn lock_now(path: &Path) -> Result<FileLock, String> {
    lock(path, Duration::ZERO, &mut || Ok(()))
}

fn lock(path: &Path, patience: Duration, meanwhile: Meanwhile<'_>) -> Result<FileLock, String> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| failed(folder, "create", &error))?;
    }
    let file = File::create(path).map_err(|error| failed(path, "create", &error))?;
    let deadline = Instant::now() + patience;
    loop {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(FileLock { _file: file }),
            Err(Errno::WOULDBLOCK) if Instant::now() < deadline => {
                meanwhile()?;
                sleep(Duration::from_millis(20));
            }
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
