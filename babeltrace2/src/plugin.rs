//! The sinks of the plugin: they write down what a graph hands them, and run a command of `ltt-top` on it.
//!
//! The program gets the traces as a tar file without a name, which it reads in place, on its standard input. So the plugin needs
//! none of the analyses, says what the program says, and a failure of the program is not one of Babeltrace's process.

use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::parameters::spelled;
use crate::transcode::{Transcoder, WrittenTrace};

/// The commands that are sinks, `sink.ltt-top.NAME`, and what each shows.
pub const COMMANDS: [(&CStr, &CStr); 4] = [
    (c"top", c"What takes the time"),
    (c"outliers", c"What is unusual: single events, slow modes and slow periods"),
    (c"incidents", c"What held the program up, why, and who waited"),
    (c"html", c"All of it as one page for browsers"),
];

/// The status of a program that read all that could be read of damaged traces.
const DAMAGED: i32 = 3;

/// A sink.
pub struct Sink {
    command: String,
    parameters: Vec<(String, Value)>,
    /// What was handed over so far.
    pub transcoder: Transcoder,
}

impl Sink {
    pub fn new(command: &CStr, parameters: Vec<(String, Value)>) -> Self {
        let command = command.to_string_lossy().into_owned();
        Sink { command, parameters, transcoder: Transcoder::default() }
    }

    /// Runs the program on all that was handed over.
    pub fn finish(self) -> Result<(), String> {
        let unwritable = |error: io::Error| format!("what was read cannot be handed to ltt-top: {error}");
        let traces = archive(self.transcoder.finish()?).map_err(unwritable)?;
        let mut program = "ltt-top".to_owned();
        let mut arguments = Vec::new();
        for (name, value) in self.parameters {
            match (name.as_str(), value) {
                ("program", value) => program = spelled(&value),
                (_, Value::Bool(true)) => arguments.push(format!("--{name}")),
                (_, Value::Bool(false)) => {}
                (_, Value::Array(values)) => {
                    arguments.extend(values.iter().map(|value| format!("--{name}={}", spelled(value))));
                }
                (_, value) => arguments.push(format!("--{name}={}", spelled(&value))),
            }
        }
        // What Babeltrace's process has not written yet comes first.
        io::stdout().flush().map_err(unwritable)?;
        let ended = Command::new(&program)
            .arg(&self.command)
            .args(&arguments)
            .arg("/dev/stdin")
            .stdin(Stdio::from(traces))
            .status()
            .map_err(|error| {
                format!("{program} cannot be run ({error}): install ltt-top, or name it by the parameter `program`")
            })?;
        match ended.code() {
            Some(0 | DAMAGED) => Ok(()),
            _ => Err(format!("{program} {} ended with {ended}, after what it said", self.command)),
        }
    }
}

/// A tar file without a name.
fn archive(traces: Vec<WrittenTrace>) -> io::Result<File> {
    let mut archive = tar::Builder::new(tempfile::tempfile()?);
    let mut add = |path: &str, size: u64, content: &mut dyn io::Read| {
        let mut header = tar::Header::new_ustar();
        header.set_size(size);
        header.set_mode(0o600);
        archive.append_data(&mut header, Path::new(path), content)
    };
    for (index, trace) in traces.into_iter().enumerate() {
        let metadata = trace.metadata.as_bytes();
        add(&format!("trace-{index}/metadata"), metadata.len() as u64, &mut &*metadata)?;
        for (number, mut file) in trace.streams.into_iter().enumerate() {
            let size = file.metadata()?.len();
            add(&format!("trace-{index}/stream-{number}"), size, &mut file)?;
        }
    }
    let mut file = archive.into_inner()?;
    file.rewind()?;
    Ok(file)
}
