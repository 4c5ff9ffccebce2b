//! A program is told when tracers switch an event on or off, and can keep it off.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{ChildStdin, ChildStdout, Stdio};

use crate::support::fixture;
use lttng_testing::{ChildInTime as _, Daemon};

#[test]
fn program_is_told_and_can_keep_an_event_off() {
    let daemon = Daemon::start();
    let mut process = daemon
        .command(fixture("probing"))
        .arg("switch")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut talk =
        Talk { to: process.stdin.take().unwrap(), from: BufReader::new(process.stdout.take().unwrap()) };
    talk.expect("ready");

    talk.tell("emit"); // Nobody records yet.
    let session = daemon.recording(&["probing:nothing"]);
    talk.expect("on");
    talk.tell("emit");
    talk.tell("emit");

    talk.tell("off");
    talk.expect("off");
    talk.tell("emit"); // Kept off.
    talk.tell("release");
    talk.expect("on");
    talk.tell("emit");

    session.disable("probing:nothing");
    talk.expect("off");
    talk.tell("emit");
    assert_eq!(session.stop().events().len(), 3);
    drop(talk);
    assert!(process.wait_in_time().unwrap().success());
}

/// A conversation with a program, a line at a time.
struct Talk {
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Talk {
    fn tell(&mut self, line: &str) {
        writeln!(self.to, "{line}").unwrap();
        self.expect("done");
    }

    fn expect(&mut self, expected: &str) {
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        assert_eq!(line.trim_end(), expected);
    }
}
