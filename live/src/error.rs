//! Why nothing can be received.

use std::fmt;
use std::io;

/// Why nothing can be received: one line.
///
/// ```
/// let error = "http://localhost/demo".parse::<lttng_live::Url>().unwrap_err();
/// assert!(error.to_string().contains("net://HOST"));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The relay cannot be reached, or does not answer.
    Network(io::Error),
    /// What the relay says makes no sense, or it refuses.
    Protocol(String),
    /// The address is not one.
    Url(String),
}

impl Error {
    pub(crate) fn protocol(message: impl Into<String>) -> Error {
        Error::Protocol(message.into())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Network(error) => match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => f.write_str("no answer in time"),
                io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset => {
                    f.write_str("the relay closed the connection")
                }
                _ => error.fmt(f),
            },
            Error::Protocol(message) | Error::Url(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Network(error) => Some(error),
            Error::Protocol(_) | Error::Url(_) => None,
        }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Error {
        Error::Network(error)
    }
}
