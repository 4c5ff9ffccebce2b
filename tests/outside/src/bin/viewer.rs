//! The slowest events of a trace.

use std::error::Error;
use std::io::stdout;
use std::sync::Arc;

use ltt_top::analysis::{Question, Selection, SourceWindow};
use ltt_top::meaning::Dictionary;
use ltt_top::source;
use ltt_top::view::{FORMATS, Screen};

fn main() -> Result<(), Box<dyn Error>> {
    let traces: Vec<_> = std::env::args_os().skip(1).map(Into::into).collect();
    let mut source = source::open(&traces, None)?;
    let dictionary = Dictionary { catalogs: vec![lttng_catalog::valkey()], duration: None };
    let selection = Arc::new(Selection { dictionary, ..Selection::default() });
    let progress = Default::default();
    let mut input = SourceWindow { source: &mut source, window: Default::default(), progress: &progress };
    let finding = Question::Slow { limit: 1 }.answer(&mut input, &selection)?;
    let notes = FORMATS[0].output(&Screen::default()).write(&finding, &mut stdout())?;
    notes.iter().for_each(|note| eprintln!("{note}"));
    Ok(())
}
