//! What the native source alone promises.

use std::path::Path;

use ltt_top::source::discover::discover;
use ltt_top::source::native::Native;
use ltt_top::source::{Source, Window};

use crate::support::{SharedTrace, assert_same, read_source};

fn source(folder: &Path) -> Native {
    Native::open(discover(&[folder]).expect("there is a trace")).expect("its metadata can be read")
}

#[test]
fn number_of_threads_does_not_change_what_is_read() {
    let Some(shared) = SharedTrace::unpack() else { return };
    let (events, report) = read_source(&mut source(shared.folder()).threads(1), Window::default());
    for threads in [2, 7] {
        let (others, other_report) =
            read_source(&mut source(shared.folder()).threads(threads), Window::default());
        assert_same(&others, &events);
        assert_eq!(other_report, report);
    }
}

#[test]
fn span_is_that_of_the_events() {
    let Some(shared) = SharedTrace::unpack() else { return };
    let mut source = source(shared.folder());
    let span = source.span().unwrap();
    assert_eq!(span, read_source(&mut source, Window::default()).1.span);
}
