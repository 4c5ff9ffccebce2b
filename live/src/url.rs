//! Addresses of sessions, spelled as Babeltrace spells them.

use std::fmt;
use std::str::FromStr;

use crate::Error;

/// The port that relays serve viewers on.
pub const PORT: u16 = 5344;

/// Where a session is: `net://HOST[:PORT][/host/HOSTNAME]/SESSION`. All that follows the port may be missing.
///
/// ```
/// use lttng_live::Url;
///
/// let url: Url = "net://collector:5355/host/web-1/checkout".parse()?;
/// assert_eq!((url.relay.as_str(), url.port), ("collector", 5355));
/// assert_eq!((url.hostname.as_deref(), url.session.as_deref()), (Some("web-1"), Some("checkout")));
/// assert_eq!(url.to_string(), "net://collector:5355/host/web-1/checkout");
///
/// let relay: Url = "net://[::1]".parse()?;
/// assert_eq!((relay.relay.as_str(), relay.port, &relay.session), ("::1", 5344, &None));
/// assert_eq!(relay.with_session("checkout").to_string(), "net://[::1]/checkout");
/// # Ok::<(), lttng_live::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Url {
    /// The machine that the relay runs on.
    pub relay: String,
    /// The port that it serves viewers on.
    pub port: u16,
    /// The host that is traced; any if it is missing.
    pub hostname: Option<String>,
    /// The session; any if it is missing.
    pub session: Option<String>,
}

impl Url {
    /// A relay on its usual port; any session of any host.
    pub fn new(relay: impl Into<String>) -> Url {
        Url { relay: relay.into(), port: PORT, hostname: None, session: None }
    }

    /// The relay on this machine.
    pub fn local() -> Url {
        Url::new("localhost")
    }

    /// On another port.
    pub fn with_port(self, port: u16) -> Url {
        Url { port, ..self }
    }

    /// Of this host alone.
    pub fn with_hostname(self, hostname: impl Into<String>) -> Url {
        Url { hostname: Some(hostname.into()), ..self }
    }

    /// Of this session alone.
    pub fn with_session(self, session: impl Into<String>) -> Url {
        Url { session: Some(session.into()), ..self }
    }
}

impl FromStr for Url {
    type Err = Error;

    fn from_str(text: &str) -> Result<Url, Error> {
        let refused = |why: &str| {
            Error::Url(format!("`{text}` {why}: write net://HOST[:PORT][/host/HOSTNAME]/SESSION"))
        };
        let schemes = ["net://", "net4://", "net6://", "tcp://", "tcp4://", "tcp6://"];
        let rest = schemes.iter().find_map(|scheme| text.strip_prefix(scheme));
        let rest = rest.ok_or_else(|| refused("is not the address of a relay"))?;
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (relay, port) = match authority.strip_prefix('[') {
            Some(bracketed) => {
                let (address, after) =
                    bracketed.split_once(']').ok_or_else(|| refused("has no closing bracket"))?;
                (address, after.strip_prefix(':'))
            }
            None => match authority.split_once(':') {
                Some((relay, port)) => (relay, Some(port)),
                None => (authority, None),
            },
        };
        let port = match port {
            None => PORT,
            Some(port) => {
                let port = port.parse().ok().filter(|&port| port > 0);
                port.ok_or_else(|| refused("has no valid port"))?
            }
        };
        if relay.is_empty() {
            return Err(refused("names no host"));
        }
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let (hostname, session) = match parts[..] {
            [] => (None, None),
            ["host", hostname] => (Some(hostname), None),
            ["host", hostname, session] => (Some(hostname), Some(session)),
            [session] => (None, Some(session)),
            _ => return Err(refused("has too many parts")),
        };
        let owned = |part: Option<&str>| part.map(str::to_owned);
        Ok(Url { relay: relay.to_owned(), port, hostname: owned(hostname), session: owned(session) })
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.relay.contains(':') {
            true => write!(f, "net://[{}]", self.relay)?,
            false => write!(f, "net://{}", self.relay)?,
        }
        if self.port != PORT {
            write!(f, ":{}", self.port)?;
        }
        if let Some(hostname) = &self.hostname {
            write!(f, "/host/{hostname}")?;
        }
        match &self.session {
            Some(session) => write!(f, "/{session}"),
            None => Ok(()),
        }
    }
}
