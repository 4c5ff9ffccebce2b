//! Servers to test on, and what was recorded of them.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use lttng_testing::{Connection, Daemon, Event, StockServer, need, not_allowed, wait_until};

/// The server that a test runs on.
pub enum Stock {
    Redis,
    /// Redis with the module also preloaded.
    Preloaded,
    /// A Valkey at this path.
    Valkey(PathBuf),
}

impl Stock {
    /// Debian's Redis, if it is installed.
    pub fn redis() -> Option<Stock> {
        need("redis-check-rdb").then_some(Stock::Redis)
    }

    /// A `valkey-server`: that of VALKEY_SERVER, or one on the PATH.
    pub fn valkey() -> Option<Stock> {
        let path = env::var_os("VALKEY_SERVER").map(PathBuf::from).or_else(|| {
            let path = env::var_os("PATH").unwrap_or_default();
            env::split_paths(&path).map(|folder| folder.join("valkey-server")).find(|path| path.is_file())
        });
        if path.is_none() {
            not_allowed("valkey-server", "none on the PATH; VALKEY_SERVER names one");
        }
        path.map(Stock::Valkey)
    }

    /// Starts it where a daemon traces it.
    pub fn start(&self, daemon: &Daemon, options: &[&str]) -> StockServer {
        let mut command = match self {
            Stock::Redis => return StockServer::start(daemon, options),
            Stock::Preloaded => daemon.command("env"),
            Stock::Valkey(path) => daemon.command(path),
        };
        if let Stock::Preloaded = self {
            command.arg(preload()).arg(StockServer::redis(daemon.folder()));
        }
        StockServer::start_as(command, daemon.folder(), options)
    }

    /// Whether it can tell who sent a command.
    pub fn knows_clients(&self) -> bool {
        matches!(self, Stock::Valkey(_))
    }
}

/// The variable that preloads the module.
pub fn preload() -> String {
    format!("LD_PRELOAD={}", StockServer::module().display())
}

/// The name and the duration, in microseconds, of a command that was recorded.
pub fn command(event: &Event) -> (&str, u64) {
    (event.field("name").trim_matches('"'), duration(event))
}

pub fn duration(event: &Event) -> u64 {
    event.field("duration").parse().expect("a number")
}

/// The time that the slow log has for the last command of a client, in microseconds.
pub fn slow_log(client: &mut Connection) -> u64 {
    let entry = client.ask("SLOWLOG GET 1");
    entry.split(' ').nth(2).and_then(|time| time.parse().ok()).unwrap_or_else(|| panic!("{entry}"))
}

/// Waits until no child of the server is at work.
pub fn wait_for_children(client: &mut Connection) {
    wait_until("its children have ended", || {
        ["rdb_bgsave_in_progress", "aof_rewrite_in_progress", "aof_rewrite_scheduled"]
            .iter()
            .all(|name| client.info(name) == "0")
    });
}

/// A command in which a file is hidden from what runs in it; as another user's, in a namespace.
pub fn without(pattern: &str, mut command: Command) -> Command {
    let script =
        format!("for file in {pattern}; do mount --bind /dev/null \"$file\" || exit; done; exec \"$@\"");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c", &script, "sh"]);
    command
}
