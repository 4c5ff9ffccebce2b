//! Parameters: from the command line, and by CONFIG GET and CONFIG SET.

use std::path::PathBuf;

/// Everything that can be set, under Valkey's names.
pub struct Config {
    pub port: u16,
    pub unixsocket: String,
    pub dir: String,
    /// Always empty: snapshots are taken when asked for. Here because redis-benchmark asks.
    pub save: String,
    pub appendonly: bool,
    pub appendfsync: SyncPolicy,
    pub maxmemory: u64,
    pub maxmemory_policy: EvictionPolicy,
    pub maxmemory_eviction_tenacity: u64,
    pub activedefrag: bool,
    pub hz: u64,
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
}

impl Default for Config {
    fn default() -> Self {
        Self {
            port: 6379,
            unixsocket: String::new(),
            dir: ".".into(),
            save: String::new(),
            appendonly: false,
            appendfsync: SyncPolicy::EverySecond,
            maxmemory: 0,
            maxmemory_policy: EvictionPolicy::NoEviction,
            maxmemory_eviction_tenacity: 10,
            activedefrag: false,
            hz: 10,
            sampler: false,
        }
    }
}

/// One parameter: its name, and how it is read and set.
pub struct Parameter {
    name: &'static str,
    /// Whether it cannot be changed once the server has started.
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

const PARAMETERS: &[Parameter] = parameters![
    "port" => port fixed,
    "unixsocket" => unixsocket fixed,
    "dir" => dir fixed,
    "save" => save fixed,
    "appendonly" => appendonly,
    "appendfsync" => appendfsync,
    "maxmemory" => maxmemory,
    "maxmemory-policy" => maxmemory_policy,
    "maxmemory-eviction-tenacity" => maxmemory_eviction_tenacity,
    "activedefrag" => activedefrag,
    "hz" => hz,
    "sampler" => sampler fixed,
];

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

    /// The value of a parameter.
    pub fn get(&self, name: &str) -> Option<String> {
        find(name).map(|parameter| (parameter.get)(self))
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

/// Types that the standard library parses and prints.
macro_rules! plain_setting {
    ($($type:ty),*) => {$(
        impl Setting for $type {
            fn read(text: &str) -> Option<Self> {
                text.parse().ok()
            }
            fn write(&self) -> String {
                self.to_string()
            }
        }
    )*};
}
plain_setting!(String, u16, u64);

/// A type with a name for each value.
trait Choice: Copy + PartialEq + 'static {
    const NAMES: &'static [(&'static str, Self)];
}

impl Choice for bool {
    const NAMES: &'static [(&'static str, Self)] = &[("yes", true), ("no", false)];
}

impl Choice for SyncPolicy {
    const NAMES: &'static [(&'static str, Self)] =
        &[("always", Self::Always), ("everysec", Self::EverySecond), ("no", Self::No)];
}

impl Choice for EvictionPolicy {
    const NAMES: &'static [(&'static str, Self)] =
        &[("noeviction", Self::NoEviction), ("allkeys-lru", Self::AllKeysLru)];
}

impl<T: Choice> Setting for T {
    fn read(text: &str) -> Option<Self> {
        T::NAMES.iter().find(|(name, _)| name.eq_ignore_ascii_case(text)).map(|&(_, value)| value)
    }
    fn write(&self) -> String {
        T::NAMES.iter().find(|(_, value)| value == self).map_or("", |(name, _)| name).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parameter_reads_what_it_writes() {
        let mut config = Config::default();
        for parameter in PARAMETERS {
            let text = (parameter.get)(&config);
            assert!((parameter.set)(&mut config, &text).is_some(), "{}", parameter.name);
            assert_eq!((parameter.get)(&config), text);
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
