//! Which source reads.

use std::ops::RangeInclusive;
use std::path::PathBuf;

#[cfg(feature = "babeltrace2")]
use super::babeltrace2::Babeltrace2;
use super::discover::discover;
use super::native::Native;
use super::{Collect, Error, Progress, Report, Source, Window};

/// Which source to read with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// The native one, or Babeltrace 2 if the native one cannot open a single trace.
    #[default]
    Auto,
    /// The native one.
    Native,
    /// Babeltrace 2.
    Babeltrace2,
}

/// Any of the sources.
pub enum AnySource {
    /// Reads natively.
    Native(Native),
    /// Reads with Babeltrace 2, and says this if it cannot read either what the native source could not.
    #[cfg(feature = "babeltrace2")]
    Babeltrace2(Babeltrace2, Option<Error>),
}

impl AnySource {
    /// Finds all traces in and below the folders and opens them.
    ///
    /// `threads` is how many the native source decodes with; by default there is one for each core.
    pub fn open(folders: &[PathBuf], choice: Choice, threads: Option<usize>) -> Result<Self, Error> {
        let found = discover(folders)?;
        let native = |found| {
            let native = Native::open(found)?;
            Ok(AnySource::Native(match threads {
                Some(threads) => native.threads(threads),
                None => native,
            }))
        };
        match choice {
            Choice::Native => native(found),
            #[cfg(feature = "babeltrace2")]
            Choice::Babeltrace2 => Ok(AnySource::Babeltrace2(Babeltrace2::new(found), None)),
            #[cfg(feature = "babeltrace2")]
            Choice::Auto => native(found.clone())
                .or_else(|error| Ok(AnySource::Babeltrace2(Babeltrace2::new(found), Some(error)))),
            #[cfg(not(feature = "babeltrace2"))]
            Choice::Babeltrace2 => {
                Err(Error("this ltt-top was built without Babeltrace 2: use --source native".into()))
            }
            #[cfg(not(feature = "babeltrace2"))]
            Choice::Auto => native(found),
        }
    }
}

impl Source for AnySource {
    fn span(&mut self) -> Result<Option<RangeInclusive<i64>>, Error> {
        match self {
            AnySource::Native(source) => source.span(),
            #[cfg(feature = "babeltrace2")]
            AnySource::Babeltrace2(source, first) => {
                source.span().map_err(|error| first.clone().unwrap_or(error))
            }
        }
    }

    fn read<C: Collect>(
        &mut self,
        window: Window,
        collector: C,
        progress: &Progress,
    ) -> Result<(C, Report), Error> {
        match self {
            AnySource::Native(source) => source.read(window, collector, progress),
            #[cfg(feature = "babeltrace2")]
            AnySource::Babeltrace2(source, first) => {
                source.read(window, collector, progress).map_err(|error| first.clone().unwrap_or(error))
            }
        }
    }
}
