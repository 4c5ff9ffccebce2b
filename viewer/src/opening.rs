//! Opens traces, by the reader that was asked for.

use std::path::PathBuf;

use ltt_analysis::source::{self, Recording};

use crate::cli::{Common, SourceChoice};
use crate::outcome::Trouble;

/// Opens the traces in these folders.
pub fn open(options: &Common, traces: &[PathBuf]) -> Result<Recording, Trouble> {
    let threads = options.threads.map(usize::from);
    match &options.source {
        SourceChoice::Native => Ok(source::open(traces, threads)?),
        SourceChoice::Babeltrace2(component) => {
            let recording = babeltrace2::open(component.as_deref(), &options.source_parameters, traces)?;
            Ok(match threads {
                Some(threads) => recording.threads(threads),
                None => recording,
            })
        }
    }
}

#[cfg(feature = "babeltrace2")]
mod babeltrace2 {
    use std::path::PathBuf;

    use ctf_reader::Discovery;
    use ltt_analysis::source::{self, Recording};
    use ltt_babeltrace2::{Component, Step, parameter, read};

    use crate::outcome::{Trouble, tell};
    use crate::signals::StopSignal;

    /// Has Babeltrace 2 read the events. The samples of the scheduler, which are ours, are read as ever.
    pub fn open(
        component: Option<&str>,
        parameters: &[String],
        traces: &[PathBuf],
    ) -> Result<Recording, Trouble> {
        let component = component.map(|class| {
            let parameters = parameters.iter().map(|text| parameter(text)).collect::<Result<_, _>>()?;
            Ok::<_, String>(Component { parameters, ..Component::parse(class)? })
        });
        let component = component.transpose().map_err(Trouble::Usage)?;
        let (found, samples) = match &component {
            None => source::discover(traces)?,
            Some(_) => (Discovery::default(), Discovery::default()),
        };
        // A source that waits for more is that of a live session: a signal ends reading, and what was read is shown.
        let mut signal = None;
        let stop = |step| {
            if step == Step::Nothing && signal.is_none() {
                tell("reading until the source ends, or Ctrl-C");
                signal = StopSignal::listen().ok();
            }
            signal.as_ref().is_some_and(StopSignal::is_set)
        };
        let events = read(component.as_ref(), &found, traces, stop).map_err(Trouble::Failed)?;
        Ok(Recording::open(events, samples)?)
    }
}

#[cfg(not(feature = "babeltrace2"))]
mod babeltrace2 {
    use std::path::PathBuf;

    use ltt_analysis::source::Recording;

    use crate::outcome::Trouble;

    /// Says what is missing.
    pub fn open(_: Option<&str>, _: &[String], _: &[PathBuf]) -> Result<Recording, Trouble> {
        let remedy = "build it with --features babeltrace2";
        Err(Trouble::Usage(format!("this ltt-top was built without Babeltrace 2: {remedy}")))
    }
}
