//! Reads what a source component of Babeltrace 2 reads.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use ctf_reader::{Damage, Discovery, TraceFiles};
use serde_json::{Value, json};

use crate::ffi::{Graph, Message, Step};
use crate::transcode::{Transcoder, WrittenTrace};

/// How long to wait for a source that has nothing yet, e.g. of a live session.
const PAUSE: Duration = Duration::from_millis(20);

/// A source component: its class, and its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Component {
    /// The plugin, e.g. `ctf`.
    pub plugin: String,
    /// The class, e.g. `fs`.
    pub class: String,
    /// Its parameters.
    pub parameters: Vec<(String, Value)>,
}

impl Component {
    /// Reads `PLUGIN.CLASS`, with or without `source.` or `src.` before it.
    ///
    /// ```
    /// use ltt_babeltrace2::Component;
    ///
    /// let component = Component::parse("src.text.dmesg")?;
    /// assert_eq!((&*component.plugin, &*component.class), ("text", "dmesg"));
    /// assert!(Component::parse("dmesg").is_err());
    /// # Ok::<(), String>(())
    /// ```
    pub fn parse(text: &str) -> Result<Component, String> {
        let name =
            ["source.", "src."].into_iter().find_map(|prefix| text.strip_prefix(prefix)).unwrap_or(text);
        match name.split_once('.') {
            Some((plugin, class)) if !plugin.is_empty() && !class.is_empty() => {
                Ok(Component { plugin: plugin.to_owned(), class: class.to_owned(), parameters: Vec::new() })
            }
            _ => Err(format!("`{text}` is not PLUGIN.CLASS, e.g. text.dmesg")),
        }
    }

    /// The same with the parameter `inputs`, unless it is given. A live session ends the source that reads it, as for `babeltrace2`.
    fn with_inputs(&self, inputs: &[PathBuf]) -> Component {
        let mut component = self.clone();
        let mut add = |name: &str, value: Value| {
            if component.parameters.iter().all(|(given, _)| given != name) {
                component.parameters.push((name.to_owned(), value));
            }
        };
        if !inputs.is_empty() {
            add("inputs", inputs.iter().map(|input| input.to_string_lossy()).collect());
        }
        if (&*self.plugin, &*self.class) == ("ctf", "lttng-live") {
            add("session-not-found-action", json!("end"));
        }
        component
    }

    /// Reads all that it has, to its end or until it shall stop. Where it fails in the middle: what it read before, and why.
    fn read(
        &self,
        stop: &mut dyn FnMut(Step) -> bool,
    ) -> Result<(Vec<WrittenTrace>, Option<String>), String> {
        let mut transcoder = Transcoder::default();
        let consumer = Box::new(|message: &Message<'_>| transcoder.add(message));
        let mut graph = Graph::new(&self.plugin, &self.class, &self.parameters, consumer)?;
        let failure = loop {
            match graph.step() {
                Err(reason) => break Some(reason),
                Ok(step) if step == Step::End || stop(step) => break None,
                Ok(Step::Nothing) => thread::sleep(PAUSE),
                Ok(_) => {}
            }
        };
        drop(graph);
        Ok((transcoder.finish()?, failure))
    }
}

/// Reads with Babeltrace 2, wholly, and returns the traces for a reader.
///
/// Without a component, these are CTF traces that were found, one component of `source.ctf.fs` for each, as their UUID groups
/// them. Another component gets the given names as its parameter `inputs`.
///
/// What was read before a component failed is there, and damage that says why it failed. If nothing was read, that is an error.
///
/// `stop` is asked after each step whether that is enough: a source of a live session waits for more until the session ends.
pub fn read(
    component: Option<&Component>,
    found: &Discovery,
    names: &[PathBuf],
    mut stop: impl FnMut(Step) -> bool,
) -> Result<Discovery, String> {
    let mut discovery = Discovery { traces: Vec::new(), damage: found.damage.clone() };
    let mut last = "Babeltrace 2 has no events to read there".to_owned();
    let mut add = |component: &Component, folders: &[PathBuf]| {
        let read = component.read(&mut stop).unwrap_or_else(|reason| (Vec::new(), Some(reason)));
        let (traces, failure) = read;
        if let Some(reason) = failure {
            let name = format!("{}.{}", component.plugin, component.class);
            let path = folders.first().map_or(Path::new(&name), PathBuf::as_path);
            let rest = if traces.is_empty() { "nothing of it" } else { "nothing after that" };
            discovery.damage.push(Damage::new(path, format!("{reason}: {rest} was read")));
            last = reason;
        }
        for trace in traces {
            discovery.traces.push(trace.files(folders.to_vec()).map_err(|error| error.to_string())?);
        }
        Ok::<(), String>(())
    };
    match component {
        Some(component) => add(&component.with_inputs(names), names)?,
        None => {
            let ctf = Component::parse("ctf.fs")?;
            for TraceFiles { folders, .. } in &found.traces {
                add(&ctf.with_inputs(folders), folders)?;
            }
        }
    }
    if discovery.traces.is_empty() { Err(last) } else { Ok(discovery) }
}
