//! The file that a command writes: it has its name when it is complete, and nothing is left of it otherwise.

use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use ltt_analysis::text::escape;

use crate::outcome::Trouble;
use crate::signals::StopSignal;

/// A file that is to be written.
pub struct OutputFile {
    /// As it was given.
    path: PathBuf,
    target: Target,
    force: bool,
}

enum Target {
    /// A file in a folder, where links lead to.
    File {
        folder: PathBuf,
        path: PathBuf,
    },
    /// A pipe, a terminal or another device, which cannot be replaced.
    Device,
    StandardOutput,
}

impl OutputFile {
    /// Checks that the file can be written, before traces are read for nothing. `-` is standard output.
    pub fn new(path: &Path, force: bool) -> Result<OutputFile, Trouble> {
        let refused = |reason: String| Err(Trouble::Failed(format!("{}: {reason}", shown(path))));
        let found = path.metadata();
        let target = match &found {
            _ if path == Path::new("-") => Target::StandardOutput,
            Ok(found) if found.is_dir() => {
                return refused("it is a folder; name a file, such as one in this folder".into());
            }
            Ok(found) if !found.is_file() => Target::Device,
            _ if !force && path.symlink_metadata().is_ok() => return refused(EXISTS.into()),
            _ => Target::file(path, found.as_ref().ok()),
        };
        if let Target::File { folder, .. } = &target {
            // All files in such a folder are its streams.
            if folder.join("metadata").is_file() {
                return refused(
                    "this folder holds a trace; a file here would be read as a stream: choose another folder"
                        .into(),
                );
            }
            if !folder.is_dir() {
                return refused(format!(
                    "there is no folder {}; create it, or choose another",
                    shown(folder)
                ));
            }
            if let Err(error) = tempfile::tempfile_in(folder) {
                return refused(format!("cannot write into its folder: {error}"));
            }
        }
        Ok(OutputFile { path: path.to_owned(), target, force })
    }

    /// Where temporary files go.
    pub fn folder(&self) -> PathBuf {
        match &self.target {
            Target::File { folder, .. } => folder.clone(),
            _ => std::env::temp_dir(),
        }
    }

    /// Writes it, compressed if its name says so.
    pub fn write<T>(&self, fill: impl FnOnce(&mut dyn Write) -> io::Result<T>) -> Result<T, Trouble> {
        let result = match &self.target {
            Target::StandardOutput => self.fill(&mut io::stdout().lock(), fill),
            Target::Device => {
                let opened = OpenOptions::new().write(true).open(&self.path);
                opened.and_then(|mut device| self.fill(&mut device, fill))
            }
            Target::File { folder, path } => self.replace(folder, path, fill),
        };
        result.map_err(|error| self.failed(&error))
    }

    /// Writes a file under a temporary name beside it, and renames it when it is complete.
    fn replace<T>(
        &self,
        folder: &Path,
        path: &Path,
        fill: impl FnOnce(&mut dyn Write) -> io::Result<T>,
    ) -> io::Result<T> {
        let mut builder = tempfile::Builder::new();
        // The user's mask applies to it.
        builder.prefix(".ltt-top-").permissions(Permissions::from_mode(0o666));
        // A signal would end the process and leave the file.
        let stop = StopSignal::listen()?;
        let mut file = builder.tempfile_in(folder)?;
        let written = self.fill(&mut Stoppable { out: file.as_file_mut(), stop }, fill)?;
        let persisted = if self.force { file.persist(path) } else { file.persist_noclobber(path) };
        persisted.map_err(|error| error.error)?;
        Ok(written)
    }

    fn fill<T>(
        &self,
        out: &mut dyn Write,
        fill: impl FnOnce(&mut dyn Write) -> io::Result<T>,
    ) -> io::Result<T> {
        let mut out = BufWriter::with_capacity(1 << 16, out);
        let written = match self.path.extension().is_some_and(|extension| extension == "gz") {
            false => fill(&mut out)?,
            true => {
                let mut encoder = GzEncoder::new(&mut out, Compression::default());
                let written = fill(&mut encoder)?;
                encoder.finish()?;
                written
            }
        };
        out.flush()?;
        Ok(written)
    }

    /// Why it was not written.
    pub fn failed(&self, error: &io::Error) -> Trouble {
        match error.kind() {
            ErrorKind::BrokenPipe => Trouble::BrokenPipe,
            ErrorKind::AlreadyExists => Trouble::Failed(format!("{self}: {EXISTS}")),
            _ => Trouble::Failed(format!("{self}: cannot write it: {error}")),
        }
    }
}

const EXISTS: &str = "it exists already; --force replaces it";

impl Target {
    fn file(path: &Path, found: Option<&Metadata>) -> Target {
        // What a link leads to is replaced, not the link.
        let path = found.and_then(|_| path.canonicalize().ok()).unwrap_or_else(|| path.to_owned());
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        Target::File { folder: folder.unwrap_or(Path::new(".")).to_owned(), path }
    }
}

impl std::fmt::Display for OutputFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.target {
            Target::StandardOutput => f.write_str("standard output"),
            _ => f.write_str(&shown(&self.path)),
        }
    }
}

fn shown(path: &Path) -> String {
    escape::text(&path.to_string_lossy())
}

/// A file that is written until a signal to stop.
struct Stoppable<'f> {
    out: &'f mut File,
    stop: StopSignal,
}

impl Write for Stoppable<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Not `Interrupted`, after which writing is tried again.
        if self.stop.is_set() { Err(io::Error::other("a signal stopped it")) } else { self.out.write(bytes) }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
