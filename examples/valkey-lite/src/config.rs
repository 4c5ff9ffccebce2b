//! Parameters under Valkey's names: from the command line, and by CONFIG SET.

use std::path::PathBuf;
use std::time::Duration;

/// Everything that can be set.
pub struct Config {
    pub port: u16,
    pub dir: PathBuf,
    pub appendonly: bool,
    /// Whether the append-only file is forced to disk before every reply, and not once a second on another thread.
    pub sync_always: bool,
    /// In bytes. Beyond it, keys are evicted at random.
    pub maxmemory: u64,
    pub activedefrag: bool,
    /// Rounds of the cron a second.
    pub hz: u64,
    /// Whether a second thread looks at the data.
    pub sampler: bool,
}

impl Config {
    /// Reads `--name value` pairs, as Valkey takes them.
    pub fn from_arguments(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut config = Self {
            port: 6379,
            dir: ".".into(),
            appendonly: false,
            sync_always: false,
            maxmemory: u64::MAX,
            activedefrag: false,
            hz: 10,
            sampler: false,
        };
        while let Some(argument) = arguments.next() {
            let value = arguments.next().ok_or_else(|| format!("{argument} needs a value"))?;
            let set = config.set(argument.trim_start_matches('-'), &value);
            set.ok_or_else(|| format!("{argument} cannot be '{value}', or is unknown"))?;
        }
        Ok(config)
    }

    /// Sets a parameter. A running server does not notice another port, folder or file.
    pub fn set(&mut self, name: &str, value: &str) -> Option<()> {
        match (name, value) {
            ("port", _) => self.port = value.parse().ok()?,
            ("dir", _) => self.dir = value.into(),
            ("appendonly", "yes" | "no") => self.appendonly = value == "yes",
            ("appendfsync", "always" | "everysec") => self.sync_always = value == "always",
            ("maxmemory", _) => self.maxmemory = value.parse().ok()?,
            ("activedefrag", "yes" | "no") => self.activedefrag = value == "yes",
            ("hz", _) => self.hz = value.parse().ok().filter(|hz| (1..=500).contains(hz))?,
            ("sampler", "yes" | "no") => self.sampler = value == "yes",
            _ => return None,
        }
        Some(())
    }

    /// The time between two rounds of the cron.
    pub fn interval(&self) -> Duration {
        Duration::from_micros(1_000_000 / self.hz)
    }
}
