//! What cannot be read, and why.

use std::cmp::Ordering;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{error, fmt, io};

/// Why nothing could be read: one line that says what is wrong, where, and what to do.
///
/// ```
/// use std::error::Error;
///
/// use ctf_reader::{ErrorKind, Reader};
///
/// let error = Reader::open(&["no/such/folder"]).unwrap_err();
/// assert!(error.to_string().starts_with("no/such/folder: cannot be opened"));
/// assert_eq!(error.kind(), ErrorKind::Unreadable);
/// assert!(error.source().unwrap().to_string().starts_with("No such file"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    message: String,
    cause: Cause,
}

impl Error {
    /// An error of another source of events, with this message.
    pub fn new(message: impl Into<String>) -> Error {
        Error { message: message.into(), cause: Cause { kind: ErrorKind::Other, source: None } }
    }

    /// What is wrong.
    pub fn kind(&self) -> ErrorKind {
        self.cause.kind
    }
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The system cannot open or read a file or folder; it is the error's source.
    Unreadable,
    /// There is no trace.
    NoTrace,
    /// Metadata or packets are damaged, cut off or not supported.
    Malformed,
    /// Anything else, in a source of events that is not this crate's.
    Other,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl error::Error for Error {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        self.cause.source.as_ref().map(|source| &**source as _)
    }
}

impl From<&Damage> for Error {
    fn from(damage: &Damage) -> Error {
        Error { message: damage.to_string(), cause: damage.cause.clone() }
    }
}

/// Something that could not be read, and where.
///
/// ```
/// # mod made { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/example.rs")); }
/// # use made::*;
/// use ctf_reader::{Nothing, Progress, Reader, Window};
///
/// // The last event is cut off.
/// let mut packet = example_packet(0, &[(10, "Ada", 12), (30, "Edsger", 0)]);
/// packet.pop();
/// let reader = Reader::from_bytes(EXAMPLE_METADATA.as_bytes(), vec![("ch_0".into(), packet.into())])?;
/// let report = reader.read(Window::default(), Nothing, &Progress::default()).report;
/// assert_eq!(report.events, 1);
/// assert!(report.damage[0].to_string().starts_with("ch_0 at byte "));
/// # Ok::<(), ctf_reader::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Damage {
    /// The file or folder.
    pub path: PathBuf,
    /// The offset in the file, in bytes, where it is known.
    pub offset: Option<u64>,
    /// What is wrong.
    pub reason: String,
    cause: Cause,
}

impl Damage {
    /// Bytes that are wrong at no known offset.
    pub fn new(path: &Path, reason: impl Into<String>) -> Damage {
        Damage::of(ErrorKind::Malformed, path, reason)
    }

    /// Damage of a kind.
    pub(crate) fn of(kind: ErrorKind, path: &Path, reason: impl Into<String>) -> Damage {
        let (path, reason, cause) = (path.to_owned(), reason.into(), Cause { kind, source: None });
        Damage { path, offset: None, reason, cause }
    }

    /// What the system cannot do, e.g. be read.
    pub(crate) fn io(path: &Path, what: &str, error: &io::Error) -> Damage {
        let copy = match error.raw_os_error() {
            Some(code) => io::Error::from_raw_os_error(code),
            None => io::Error::new(error.kind(), error.to_string()),
        };
        let cause = Cause { kind: ErrorKind::Unreadable, source: Some(Arc::new(copy)) };
        Damage { cause, ..Damage::new(path, format!("cannot be {what}: {error}")) }
    }

    /// The same at an offset.
    pub(crate) fn at(self, offset: u64) -> Damage {
        Damage { offset: Some(offset), ..self }
    }

    /// What is wrong.
    pub fn kind(&self) -> ErrorKind {
        self.cause.kind
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(offset) = self.offset {
            write!(f, " at byte {offset}")?;
        }
        write!(f, ": {}", self.reason)
    }
}

/// The kind of what is wrong, and the system's error. It does not count where damage is compared: the reason says it too.
#[derive(Clone, Debug)]
struct Cause {
    kind: ErrorKind,
    source: Option<Arc<io::Error>>,
}

impl PartialEq for Cause {
    fn eq(&self, _: &Cause) -> bool {
        true
    }
}

impl Eq for Cause {}

impl PartialOrd for Cause {
    fn partial_cmp(&self, other: &Cause) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Cause {
    fn cmp(&self, _: &Cause) -> Ordering {
        Ordering::Equal
    }
}
