//! Parameters: from the command line, and by CONFIG GET and CONFIG SET.

use std::path::PathBuf;

/// One parameter: its name with `_` for `-`, and how it is read and set.
struct Parameter {
    name: &'static str,
    /// Whether CONFIG SET may change it.
    change: Change,
    get: fn(&Config) -> String,
    set: fn(&mut Config, &str) -> Option<()>,
}

#[derive(PartialEq)]
enum Change {
    AtStart,
    AnyTime,
}

macro_rules! parameters {
    ($($(#[$doc:meta])* $field:ident: $type:ty = $default:expr, $change:ident;)*) => {
        /// Everything that can be set, under Valkey's names.
        pub struct Config {
            $($(#[$doc])* pub $field: $type,)*
        }

        impl Default for Config {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }

        const PARAMETERS: &[Parameter] = &[$(Parameter {
            name: stringify!($field),
            change: Change::$change,
            get: |config| config.$field.write(),
            set: |config, text| Setting::read(text).map(|value| config.$field = value),
        }),*];
    };
}

parameters! {
    port: u16 = 6379, AtStart;
    unixsocket: String = String::new(), AtStart;
    dir: String = ".".into(), AtStart;
    /// Always empty: snapshots are taken when asked for. Here because redis-benchmark asks.
    save: String = String::new(), AtStart;
    appendonly: bool = false, AnyTime;
    appendfsync: SyncPolicy = SyncPolicy::EverySecond, AnyTime;
    maxmemory: u64 = 0, AnyTime;
    maxmemory_policy: EvictionPolicy = EvictionPolicy::NoEviction, AnyTime;
    maxmemory_eviction_tenacity: u64 = 10, AnyTime;
    activedefrag: bool = false, AnyTime;
    hz: u64 = 10, AnyTime;
    sampler: bool = false, AtStart;
}

impl Config {
    /// Reads `--name value` pairs, as Valkey takes them.
    pub fn from_arguments(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut config = Self::default();
        while let Some(argument) = arguments.next() {
            let parameter = argument.strip_prefix("--").and_then(find).ok_or_else(|| {
                let names = PARAMETERS.iter().map(|parameter| parameter.name.replace('_', "-"));
                format!(
                    "unknown option {argument}; the options are --{}",
                    names.collect::<Vec<_>>().join(" --")
                )
            })?;
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
        let reason = match parameter.change {
            Change::AtStart => "can't set immutable config",
            Change::AnyTime if (parameter.set)(self, value).is_some() => return Ok(()),
            Change::AnyTime => "argument couldn't be parsed",
        };
        Err(format!("ERR CONFIG SET failed (possibly related to argument '{name}') - {reason}"))
    }

    /// A file of the data folder.
    pub fn path(&self, file: &str) -> PathBuf {
        PathBuf::from(&self.dir).join(file)
    }
}

fn find(name: &str) -> Option<&'static Parameter> {
    let name = name.replace('-', "_");
    PARAMETERS.iter().find(|parameter| parameter.name.eq_ignore_ascii_case(&name))
}

/// A type of parameter, as text.
trait Setting: Sized {
    fn read(text: &str) -> Option<Self>;
    fn write(&self) -> String;
}

/// Types that the standard library parses and prints.
macro_rules! plain {
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
plain!(String, u16, u64);

impl Setting for bool {
    fn read(text: &str) -> Option<Self> {
        ["no", "yes"].iter().position(|name| name.eq_ignore_ascii_case(text)).map(|index| index == 1)
    }
    fn write(&self) -> String {
        if *self { "yes" } else { "no" }.into()
    }
}

/// Types with a name for each value.
macro_rules! choices {
    ($($(#[$doc:meta])* $type:ident { $($name:literal: $variant:ident),* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq)]
        pub enum $type {
            $($variant,)*
        }

        impl Setting for $type {
            fn read(text: &str) -> Option<Self> {
                match text.to_ascii_lowercase().as_str() {
                    $($name => Some(Self::$variant),)*
                    _ => None,
                }
            }
            fn write(&self) -> String {
                match self { $(Self::$variant => $name,)* }.into()
            }
        }
    )*};
}

choices! {
    /// When the append-only file is forced to disk: before every reply, once a second on another thread, or when the
    /// operating system likes.
    SyncPolicy { "always": Always, "everysec": EverySecond, "no": No }

    /// Which keys go when memory runs out.
    EvictionPolicy { "noeviction": NoEviction, "allkeys-lru": AllKeysLru }
}
