//! Values of options, and how they are read.

use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::LazyLock;
use std::time::Duration;

use crate::outcome::Trouble;
use crate::view::gate::JUNIT;
use crate::view::{FORMATS, Format, Screen};
use clap::ValueEnum;
use clap::builder::PossibleValue;
use ltt_analysis::Finding;
use ltt_analysis::compare::Allowed;
use ltt_analysis::unit::parse_duration;

/// How to write the result.
#[derive(Clone, Copy, Debug)]
pub struct FormatChoice(pub &'static Format);

impl Default for FormatChoice {
    fn default() -> Self {
        FormatChoice(&FORMATS[0])
    }
}

impl ValueEnum for FormatChoice {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<Vec<FormatChoice>> =
            LazyLock::new(|| FORMATS.iter().map(FormatChoice).collect());
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name).help(self.0.about))
    }
}

/// What a gate lets pass.
#[derive(Clone, Copy, Debug)]
pub struct AllowChoice(pub Allowed);

impl ValueEnum for AllowChoice {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<Vec<AllowChoice>> =
            LazyLock::new(|| Allowed::ALL.iter().map(|(what, ..)| AllowChoice(*what)).collect());
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (_, name, about) = Allowed::ALL[self.0 as usize];
        Some(PossibleValue::new(name).help(about))
    }
}

/// A file that a result is written to, in the format that its name ends in.
#[derive(Clone, Debug)]
pub struct ReportFile {
    path: PathBuf,
    format: &'static Format,
}

impl FromStr for ReportFile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let path = PathBuf::from(text);
        let format = path.extension().and_then(|ending| ending.to_str()).and_then(|ending| match ending {
            "xml" => Some(&JUNIT),
            "md" => FORMATS.iter().find(|format| format.name == "markdown"),
            ending => FORMATS.iter().find(|format| format.name == ending && format.name != "table"),
        });
        match format {
            Some(format) => Ok(ReportFile { path, format }),
            None => Err("its name must end in .md, .xml, .json, .csv or .html".to_owned()),
        }
    }
}

impl ReportFile {
    /// Writes a finding to it; Markdown is added to what is there.
    pub fn write(&self, finding: &Finding, screen: &Screen) -> Result<(), Trouble> {
        let mut open = File::options();
        match self.format.name {
            "markdown" => open.append(true).create(true),
            _ => open.write(true).create(true).truncate(true),
        };
        let refused =
            |error: io::Error| Trouble::Failed(format!("cannot write {}: {error}", self.path.display()));
        let mut file = open.open(&self.path).map(BufWriter::new).map_err(refused)?;
        let screen = Screen { width: None, colour: false, ..screen.clone() };
        self.format.output(&screen).write(finding, &mut file).map_err(refused)?;
        file.flush().map_err(refused)
    }
}

/// A file for another program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// The Trace Event format: a timeline for Perfetto's page and chrome://tracing.
    #[default]
    ChromeTrace,
    /// Speedscope's own format: what each thread did, by name.
    Speedscope,
    /// Perfetto's own format: tracks of threads, clients and incidents, in a third of the size.
    Perfetto,
    /// Parquet files by host, for DuckDB, Spark and others; by the program ltt-parquet.
    Parquet,
}

/// Who reads the traces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SourceChoice {
    /// Our reader.
    #[default]
    Native,
    /// Babeltrace 2: CTF traces, or what a source component of this class reads.
    Babeltrace2(Option<String>),
}

impl FromStr for SourceChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "native" => Ok(SourceChoice::Native),
            None if text == "babeltrace2" => Ok(SourceChoice::Babeltrace2(None)),
            Some(("babeltrace2", class)) if !class.is_empty() => {
                Ok(SourceChoice::Babeltrace2(Some(class.to_owned())))
            }
            _ => Err("it must be native, babeltrace2 or babeltrace2:PLUGIN.CLASS".to_owned()),
        }
    }
}

impl fmt::Display for SourceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SourceChoice::Native => f.write_str("native"),
            SourceChoice::Babeltrace2(None) => f.write_str("babeltrace2"),
            SourceChoice::Babeltrace2(Some(class)) => write!(f, "babeltrace2:{class}"),
        }
    }
}

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    Always,
    Never,
}

/// Where to listen; without an address, for this machine only.
pub fn address(text: &str) -> Result<SocketAddr, String> {
    let port = text
        .strip_prefix("localhost:")
        .unwrap_or(text)
        .parse()
        .map(|port: u16| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    port.or_else(|_| text.parse())
        .map_err(|_| "write a port or ADDRESS:PORT, such as 9464 or 127.0.0.1:9464".to_owned())
}

/// The probability of an error.
pub fn error_rate(text: &str) -> Result<f64, String> {
    let parsed = text.parse().ok().filter(|probability| (1e-15..=0.1).contains(probability));
    parsed.ok_or_else(|| "write a probability from 1e-15 to 0.1".into())
}

/// A probability, by its name or as a number.
pub fn probability(text: &str) -> Result<f64, String> {
    match text {
        "low" => Ok(1e-6),
        "normal" => Ok(5e-3),
        "high" => Ok(0.05),
        _ => {
            error_rate(text).map_err(|_| "write low, normal, high or a probability from 1e-15 to 0.1".into())
        }
    }
}

/// A duration in nanoseconds.
pub fn nanoseconds(text: &str) -> Result<u64, String> {
    let parsed = parse_duration(text).and_then(|nanoseconds| u64::try_from(nanoseconds).ok());
    parsed.ok_or_else(|| "write a duration such as 50us or 1.5ms".into())
}

/// A length of time.
pub fn length(text: &str) -> Result<Duration, String> {
    nanoseconds(text).map(Duration::from_nanos)
}

/// The length of a slice of time.
pub fn slice(text: &str) -> Result<Duration, String> {
    length(text)
        .ok()
        .filter(|slice| !slice.is_zero())
        .ok_or_else(|| "write a time such as 1s or 100ms".into())
}

/// The time from one table to the next, which must not fill the output.
pub fn interval(text: &str) -> Result<Duration, String> {
    let parsed = length(text)?;
    if parsed < Duration::from_millis(10) { Err("write 10ms or longer".into()) } else { Ok(parsed) }
}
