//! Parameters: from the command line, and by CONFIG GET and CONFIG SET.

use std::path::PathBuf;

use crate::number::parse_memory;

/// Everything that can be set, under Valkey's names.
pub struct Config {
    pub bind: String,
    pub port: u16,
    pub unixsocket: String,
    pub dir: String,
    pub dbfilename: String,
    /// Always empty: snapshots are taken when asked for. Here because redis-benchmark asks.
    pub save: String,
    pub appendonly: bool,
    pub appendfilename: String,
    pub appendfsync: SyncPolicy,
    pub cluster_config_file: String,
    pub maxmemory: u64,
    pub maxmemory_policy: EvictionPolicy,
    pub maxmemory_samples: u64,
    pub maxmemory_eviction_tenacity: u64,
    pub activedefrag: bool,
    pub hz: u64,
    pub proto_max_bulk_len: u64,
    pub rdb_key_save_delay: u64,
    pub sampler: bool,
}

/// When the append-only file is forced to disk.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SyncPolicy {
    /// Before every reply.
    Always,
    /// Once a second, on another thread.
    EverySecond,
    /// When the operating system likes.
    No,
}

/// Which keys go when memory runs out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum EvictionPolicy {
    NoEviction,
    AllKeysLru,
    VolatileLru,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            bind: "127.0.0.1".into(),
            port: 6379,
            unixsocket: String::new(),
            dir: ".".into(),
            dbfilename: "dump.rdb".into(),
            save: String::new(),
            appendonly: false,
            appendfilename: "appendonly.aof".into(),
            appendfsync: SyncPolicy::EverySecond,
            cluster_config_file: "nodes.conf".into(),
            maxmemory: 0,
            maxmemory_policy: EvictionPolicy::NoEviction,
            maxmemory_samples: 5,
            maxmemory_eviction_tenacity: 10,
            activedefrag: false,
            hz: 10,
            proto_max_bulk_len: 512 << 20,
            rdb_key_save_delay: 0,
            sampler: false,
        }
    }
}

/// One parameter: its name, and how it is read and set.
pub struct Parameter {
    pub name: &'static str,
    /// Whether it is taken up when the server starts, and fixed from then on.
    fixed: bool,
    get: fn(&Config) -> String,
    set: fn(&mut Config, &str) -> Option<()>,
}

macro_rules! parameters {
    ($($name:literal => $field:ident $($fixed:ident)?),* $(,)?) => {
        &[$(Parameter {
            name: $name,
            fixed: parameters!(@fixed $($fixed)?),
            get: |config| config.$field.write(),
            set: |config, text| Setting::read(text).map(|value| config.$field = value),
        }),*]
    };
    (@fixed) => { false };
    (@fixed fixed) => { true };
}

/// All parameters, in the order of CONFIG GET.
pub const PARAMETERS: &[Parameter] = parameters![
    "bind" => bind fixed,
    "port" => port fixed,
    "unixsocket" => unixsocket fixed,
    "dir" => dir fixed,
    "dbfilename" => dbfilename,
    "save" => save fixed,
    "appendonly" => appendonly,
    "appendfilename" => appendfilename fixed,
    "appendfsync" => appendfsync,
    "cluster-config-file" => cluster_config_file fixed,
    "maxmemory" => maxmemory,
    "maxmemory-policy" => maxmemory_policy,
    "maxmemory-samples" => maxmemory_samples,
    "maxmemory-eviction-tenacity" => maxmemory_eviction_tenacity,
    "activedefrag" => activedefrag,
    "hz" => hz,
    "proto-max-bulk-len" => proto_max_bulk_len,
    "rdb-key-save-delay" => rdb_key_save_delay,
    "sampler" => sampler fixed,
];

impl Parameter {
    pub fn get(&self, config: &Config) -> String {
        (self.get)(config)
    }
}

impl Config {
    /// Reads `--name value` pairs, as Valkey takes them.
    pub fn from_arguments(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut config = Self::default();
        while let Some(argument) = arguments.next() {
            let parameter = argument
                .strip_prefix("--")
                .and_then(find)
                .ok_or_else(|| format!("unknown option {argument}; the options are {}", names()))?;
            let value = arguments.next().ok_or_else(|| format!("{argument} needs a value"))?;
            (parameter.set)(&mut config, &value).ok_or_else(|| format!("{argument} cannot be '{value}'"))?;
        }
        Ok(config)
    }

    /// Sets a parameter of a running server.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let parameter = find(name)
            .ok_or_else(|| format!("ERR Unknown option or number of arguments for CONFIG SET - '{name}'"))?;
        let reason = match parameter.fixed {
            true => "can't set immutable config",
            false if (parameter.set)(self, value).is_some() => return Ok(()),
            false => "argument couldn't be parsed",
        };
        Err(format!("ERR CONFIG SET failed (possibly related to argument '{name}') - {reason}"))
    }

    /// A file of the data folder.
    pub fn path(&self, file: &str) -> PathBuf {
        PathBuf::from(&self.dir).join(file)
    }
}

fn find(name: &str) -> Option<&'static Parameter> {
    PARAMETERS.iter().find(|parameter| parameter.name.eq_ignore_ascii_case(name))
}

fn names() -> String {
    PARAMETERS.iter().map(|parameter| format!("--{}", parameter.name)).collect::<Vec<_>>().join(" ")
}

/// A type of parameter, as text.
trait Setting: Sized {
    fn read(text: &str) -> Option<Self>;
    fn write(&self) -> String;
}

impl Setting for bool {
    fn read(text: &str) -> Option<Self> {
        choose(text, &[("yes", true), ("no", false)])
    }
    fn write(&self) -> String {
        if *self { "yes" } else { "no" }.into()
    }
}

impl Setting for u64 {
    fn read(text: &str) -> Option<Self> {
        parse_memory(text)
    }
    fn write(&self) -> String {
        self.to_string()
    }
}

impl Setting for u16 {
    fn read(text: &str) -> Option<Self> {
        text.parse().ok()
    }
    fn write(&self) -> String {
        self.to_string()
    }
}

impl Setting for String {
    fn read(text: &str) -> Option<Self> {
        Some(text.into())
    }
    fn write(&self) -> String {
        self.clone()
    }
}

const SYNC_POLICIES: &[(&str, SyncPolicy)] =
    &[("always", SyncPolicy::Always), ("everysec", SyncPolicy::EverySecond), ("no", SyncPolicy::No)];

impl Setting for SyncPolicy {
    fn read(text: &str) -> Option<Self> {
        choose(text, SYNC_POLICIES)
    }
    fn write(&self) -> String {
        name_of(*self, SYNC_POLICIES)
    }
}

const EVICTION_POLICIES: &[(&str, EvictionPolicy)] = &[
    ("noeviction", EvictionPolicy::NoEviction),
    ("allkeys-lru", EvictionPolicy::AllKeysLru),
    ("volatile-lru", EvictionPolicy::VolatileLru),
];

impl Setting for EvictionPolicy {
    fn read(text: &str) -> Option<Self> {
        choose(text, EVICTION_POLICIES)
    }
    fn write(&self) -> String {
        name_of(*self, EVICTION_POLICIES)
    }
}

fn choose<T: Copy>(text: &str, choices: &[(&str, T)]) -> Option<T> {
    choices.iter().find(|(name, _)| name.eq_ignore_ascii_case(text)).map(|&(_, choice)| choice)
}

fn name_of<T: PartialEq>(choice: T, choices: &[(&str, T)]) -> String {
    choices.iter().find(|(_, other)| *other == choice).map_or_else(String::new, |(name, _)| (*name).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parameter_reads_what_it_writes() {
        let mut config = Config::default();
        for parameter in PARAMETERS {
            let text = parameter.get(&config);
            assert!((parameter.set)(&mut config, &text).is_some(), "{}", parameter.name);
            assert_eq!(parameter.get(&config), text);
        }
    }

    #[test]
    fn wrong_options_say_what_is_wrong() {
        let error = |arguments: &[&str]| {
            Config::from_arguments(arguments.iter().map(|text| text.to_string())).err().unwrap_or_default()
        };
        assert!(error(&["--prot", "1"]).starts_with("unknown option --prot"));
        assert_eq!(error(&["--port"]), "--port needs a value");
        assert_eq!(error(&["--hz", "often"]), "--hz cannot be 'often'");
        assert!(Config::default().set("port", "1").unwrap_err().contains("immutable"));
    }
}
