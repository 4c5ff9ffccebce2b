//! A trace of `command_call` events that LTTng itself recorded.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use lttng_testing::{Daemon, Program};

/// Records this number of events from two threads into a new folder, with the contexts vpid and vtid and sub-buffers
/// of 8 MB. The tracer waits for its buffers to be written instead of discarding events.
pub fn write(folder: &Path, events: u64) {
    let emit_loop = Program::example("valkey-trace", "emit-loop").release().traced().build();
    let daemon = Daemon::start();
    let session = daemon.session();
    let buffers = ["--userspace", "--subbuf-size=8M", "--num-subbuf=4", "--blocking-timeout=inf", "large"];
    session.lttng("enable-channel", buffers);
    session.enable_with("valkey_*", &["--channel=large"]);
    for context in ["vpid", "vtid"] {
        session.lttng("add-context", ["--userspace", "--channel=large", "--type", context]);
    }
    session.start();
    let mut command = daemon.command(emit_loop);
    command.args(["command_call", "2", &(events / 2).to_string()]).env("LTTNG_UST_ALLOW_BLOCKING", "1");
    let mut program = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it runs");
    let mut input = program.stdin.take().expect("it is piped");
    writeln!(input, "go").expect("it reads");
    let mut line = String::new();
    BufReader::new(program.stdout.take().expect("it is piped")).read_line(&mut line).expect("it answers");
    drop(input);
    assert!(program.wait().expect("it ends").success());
    let trace = session.stop();
    let recorded = trace.metadata_folders().remove(0);
    // Written elsewhere first, so that a folder that is there is complete.
    let copied = Command::new("cp").arg("-r").arg(&recorded).arg(folder).status().expect("cp runs");
    assert!(copied.success());
}
