//! Which sessions to watch.

use std::path::PathBuf;

use ltt_analysis::text::{escape, suggestion};
use lttng_catalog::nearest;
use lttng_live::{Options, Session, Url, sessions};

use crate::outcome::Trouble;

/// The sessions that URLs name.
pub enum SessionChoice {
    Chosen(Vec<Url>),
    /// It is ambiguous: a list of the candidates.
    Several(String),
}

/// Finds the sessions that addresses name; without an address, the only one on this machine.
pub fn choose(given: &[PathBuf], options: &Options) -> Result<SessionChoice, Trouble> {
    let mut urls = Vec::new();
    for text in given {
        let text = text.to_string_lossy();
        urls.push(text.parse::<Url>().map_err(|error| Trouble::Usage(error.to_string()))?);
    }
    if urls.is_empty() {
        urls.push(Url::local());
    }
    let mut chosen: Vec<Url> = Vec::new();
    for url in urls {
        let all = sessions(&url, options).map_err(|error| unreachable(&url, &error))?;
        let live: Vec<Session> = all.into_iter().filter(|session| session.live_timer.is_some()).collect();
        let fits = |part: &Option<String>, name: &str| part.as_deref().is_none_or(|part| part == name);
        let named: Vec<Url> = live
            .iter()
            .filter(|session| fits(&url.hostname, &session.hostname) && fits(&url.session, &session.name))
            .map(|session| at(&url, session))
            .collect();
        match (&url.session, named.len()) {
            (_, 0) => return Err(nothing(&url, &live)),
            (None, 2..) => return Ok(SessionChoice::Several(list(&named))),
            // Sessions of one name on several hosts are all watched.
            _ => chosen.extend(named.into_iter().filter(|url| !chosen.contains(url)).collect::<Vec<_>>()),
        }
    }
    Ok(SessionChoice::Chosen(chosen))
}

/// The address of a session of a relay.
fn at(relay: &Url, session: &Session) -> Url {
    relay.clone().with_hostname(&session.hostname).with_session(&session.name)
}

fn unreachable(url: &Url, error: &lttng_live::Error) -> Trouble {
    let relay = Url::new(&url.relay).with_port(url.port);
    Trouble::Failed(format!(
        "no relay answers at {relay}: {error}; start one with `lttng-relayd --daemonize`, or name another: \
         ltt-top live net://HOST[:PORT]/SESSION"
    ))
}

fn nothing(url: &Url, live: &[Session]) -> Trouble {
    let urls: Vec<String> = live.iter().map(|session| at(url, session).to_string()).collect();
    let relay = Url::new(&url.relay).with_port(url.port);
    Trouble::Failed(match &url.session {
        _ if live.is_empty() => format!(
            "the relay at {relay} has no live session; create one with `lttng create NAME --live --set-url=net://{}`",
            url.relay
        ),
        Some(session) => {
            let names = live.iter().map(|session| session.name.as_str());
            let meant = suggestion(nearest(session, names));
            format!("the relay has no session {url}{meant} (it has {})", urls.join(", "))
        }
        None => format!("the relay has no session {url} (it has {})", urls.join(", ")),
    })
}

fn list(urls: &[Url]) -> String {
    let lines = urls.iter().map(|url| format!("  ltt-top live {}", escape::text(&url.to_string())));
    let lines: Vec<String> = lines.collect();
    format!("There are several live sessions; name the ones to watch:\n{}", lines.join("\n"))
}
