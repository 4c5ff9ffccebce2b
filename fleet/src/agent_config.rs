//! The configuration of the agent: one TOML file.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use crate::cli::age;
use crate::store::failed;

/// What the file says; contrib/agent/ltt-agent.toml explains each key.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    session: Option<String>,
    traces: PathBuf,
    output: PathBuf,
    events: Vec<String>,
    contexts: Option<Vec<String>>,
    #[serde(default)]
    channel: Vec<String>,
    host: Option<String>,
    #[serde(default)]
    catalog: Vec<PathBuf>,
    #[serde(default)]
    delta: bool,
    rotate: Option<String>,
    most_disk_mb: Option<u64>,
    keep: Option<String>,
    metrics: Option<PathBuf>,
}

/// What to record, and where to.
pub struct Config {
    pub session: String,
    pub traces: PathBuf,
    pub output: PathBuf,
    pub events: Vec<String>,
    pub contexts: Vec<String>,
    /// Further options of the channel.
    pub channel: Vec<String>,
    pub host: Option<String>,
    pub catalog: Vec<PathBuf>,
    pub delta: bool,
    pub rotate: Duration,
    /// How many bytes of traces may wait to be exported.
    pub most_disk: u64,
    /// How long to keep days, in nanoseconds.
    pub keep: Option<u64>,
    pub metrics: Option<PathBuf>,
    /// How often to look for finished chunks.
    pub interval: Duration,
}

impl Config {
    pub fn read(path: &Path) -> Result<Config, String> {
        let text = std::fs::read_to_string(path).map_err(|error| failed(path, "read", &error))?;
        let wrong = |what: &dyn std::fmt::Display| format!("{}: {what}", path.display());
        let file: File =
            toml::from_str(&text).map_err(|error| wrong(&error.to_string().replace('\n', " ")))?;
        let duration = |name: &str, text: &str| age(text).map_err(|error| wrong(&format!("{name}: {error}")));
        if file.events.is_empty() {
            return Err(wrong(&"events: name at least one, e.g. \"valkey_*\""));
        }
        let rotate = Duration::from_nanos(duration("rotate", file.rotate.as_deref().unwrap_or("1h"))?);
        if rotate.is_zero() {
            return Err(wrong(&"rotate: it must be above 0"));
        }
        let keep = file.keep.as_deref().map(|keep| duration("keep", keep)).transpose()?;
        let contexts =
            file.contexts.unwrap_or_else(|| ["vpid", "vtid", "procname"].map(str::to_owned).into());
        Ok(Config {
            session: file.session.unwrap_or_else(|| "ltt-agent".into()),
            traces: std::path::absolute(&file.traces).unwrap_or(file.traces),
            output: file.output,
            events: file.events,
            contexts,
            channel: file.channel,
            host: file.host,
            catalog: file.catalog,
            delta: file.delta,
            rotate,
            most_disk: file.most_disk_mb.unwrap_or(4096).saturating_mul(1_000_000),
            keep,
            metrics: file.metrics,
            interval: (rotate / 4).clamp(Duration::from_millis(200), Duration::from_secs(10)),
        })
    }
}
