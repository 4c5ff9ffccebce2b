//! `ltt-top --source babeltrace2` and the plugin, beside `ltt-top` with its own reader.
//!
//! `LTT_TOP` names a program that was built with the feature `babeltrace2`: a stage of `make check` builds it and runs this.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use case::Case;
use lttng_testing::{
    ChildInTime as _, CommandInTime as _, Daemon, Program, Relay, assert_golden, need, wait_until,
};
use tempfile::TempDir;

#[path = "../../ctf/tests/support/case.rs"]
mod case;

const COMMANDS: [&str; 4] = ["info", "top", "outliers", "incidents"];

fn program() -> PathBuf {
    std::env::var_os("LTT_TOP").expect("LTT_TOP names ltt-top: see scripts/check.sh").into()
}

fn ltt_top(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Output {
    Command::new(program()).args(arguments).env("TZ", "UTC").output_in_time().expect("it runs")
}

/// The recorded traces of the repository: of real servers, and of the demo.
const TRACES: [&str; 4] = ["valkey-mixed", "valkey-causes", "valkey-pair", "valkey-lite-busy"];

/// A recorded trace of the repository, unpacked.
fn trace(name: &str) -> PathBuf {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let folder = tempfile::tempdir().expect("there is room");
        for name in TRACES {
            let archive = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../tests/data/{name}.tar.xz"));
            let into = folder.path().join(name);
            fs::create_dir(&into).expect("it is new");
            let tar = Command::new("tar").arg("-xJf").arg(archive).arg("-C").arg(into).output_in_time();
            assert!(tar.expect("tar runs").status.success());
        }
        folder
    });
    folder.path().join(name)
}

/// What a program wrote as text, and its status.
fn text(output: Output) -> (String, String, Option<i32>) {
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    (out, err, output.status.code())
}

#[test]
fn findings_are_the_same_to_the_byte_by_both_readers() {
    for name in TRACES {
        let trace = trace(name);
        for command in COMMANDS {
            let arguments = [command, "--format", "json", trace.to_str().expect("UTF-8")];
            let native = text(ltt_top(arguments));
            assert_eq!(native.2, Some(0), "{name} {command}: {}", native.1);
            let other = text(ltt_top(arguments.into_iter().chain(["--source", "babeltrace2"])));
            assert!(native == other, "{name} {command} differs:\n{}\n{}", native.0, other.0);
        }
    }
}

/// Traces as others may write them: other layouts, byte orders and clocks. `differences.txt` has what differs.
#[test]
fn hand_written_traces_are_read_alike_but_for_what_is_listed() {
    let folder = tempfile::tempdir().expect("there is room");
    let mut differences = String::new();
    // Of CTF 1.8, and not malformed.
    let is_well_formed = |file: &PathBuf| file.ends_with("fields.txt") || file.ends_with("packets.txt");
    for file in Case::files().into_iter().filter(is_well_formed) {
        let text = fs::read_to_string(&file).expect("it is text");
        for (name, text) in Case::split(&text) {
            let (case, _) = Case::parse(text);
            let trace = folder.path().join(name);
            fs::create_dir(&trace).expect("it is new");
            fs::write(trace.join("metadata"), case.metadata).expect("there is room");
            fs::write(trace.join("stream"), case.stream).expect("there is room");
            let difference = difference(&trace);
            if difference != "same" {
                differences += &format!("{name}: {difference}\n");
            }
        }
    }
    assert_golden(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/differences.txt"), &differences);
}

/// What differs between the readers of a trace.
fn difference(trace: &Path) -> String {
    let mut different = Vec::new();
    for command in COMMANDS.into_iter().chain(["events"]) {
        let arguments = [command, "--format", "json", trace.to_str().expect("UTF-8")];
        let native = text(ltt_top(arguments));
        let other = text(ltt_top(arguments.into_iter().chain(["--source", "babeltrace2"])));
        match (native.2, other.2) {
            (Some(status), Some(1)) if status != 1 => {
                return format!("status {status}, refused by Babeltrace 2");
            }
            _ if native.0 == other.0 && native.2 == other.2 => {}
            (Some(native), Some(other)) if native != other => {
                different.push(format!("{command} (status {native} and {other})"));
            }
            _ => different.push(command.to_owned()),
        }
    }
    if different.is_empty() { "same".to_owned() } else { different.join(", ") }
}

#[test]
fn single_events_are_the_same_by_both_readers() {
    let trace = trace("valkey-mixed");
    let arguments =
        ["events", "--format", "json", "--where", "duration>100us", trace.to_str().expect("UTF-8")];
    let native = text(ltt_top(arguments));
    assert!(native.0.lines().count() > 100, "{}", native.1);
    let other = text(ltt_top(arguments.into_iter().chain(["--source", "babeltrace2"])));
    assert!(native == other, "{} and {} lines", native.0.lines().count(), other.0.lines().count());
}

#[test]
fn a_source_for_another_format_is_read() {
    let folder = tempfile::tempdir().expect("there is room");
    let log = folder.path().join("log");
    fs::write(&log, "[    1.000000] usb 1-1: new device\n[    1.250000] usb 1-1: gone\n")
        .expect("there is room");
    let parameter = format!("path={}", log.display());
    let source = ["--source", "babeltrace2:text.dmesg", "--source-param", &parameter];
    let (out, err, status) = text(ltt_top(["info", "--format", "json"].into_iter().chain(source)));
    assert_eq!(status, Some(0), "{err}");
    assert!(out.contains("\"events\":2"), "{out}");
    assert!(out.contains("\"length_ns\":250000000"), "{out}");
}

/// A live session is read to its end, or until a signal, and analysed then.
#[test]
fn a_live_session_is_read_until_it_ends_or_a_signal_comes() {
    let emit_all = Program::example("valkey-trace", "emit-all").traced().build();
    let hostname = fs::read_to_string("/proc/sys/kernel/hostname").expect("it has one");
    let daemon = Daemon::start();
    for is_interrupted in [false, true] {
        let relay = Relay::start();
        let session = daemon.live_session(&relay, 100_000);
        session.record("valkey_*", &["vpid"]);
        let url = session.url(&relay);
        let (_, name) = url.rsplit_once('/').expect("it ends with the session");
        let folder = tempfile::tempdir().expect("there is room");
        let [out, err] = ["out", "err"].map(|name| folder.path().join(name));
        let [into_out, into_err] = [&out, &err].map(|path| fs::File::create(path).expect("there is room"));
        let mut reading = Command::new(program())
            .args(["info", "--format", "json", "--source", "babeltrace2:ctf.lttng-live"])
            .arg(format!("{}/host/{}/{name}", relay.viewer_url(), hostname.trim()))
            .stdout(into_out)
            .stderr(into_err)
            .spawn()
            .expect("it runs");
        wait_until("it waits for more", || {
            fs::read_to_string(&err)
                .is_ok_and(|said| said.contains("reading until the source ends, or Ctrl-C"))
        });
        // The source begins with what is recorded from then on.
        assert!(daemon.command(&emit_all).output_in_time().expect("it runs").status.success());
        std::thread::sleep(std::time::Duration::from_secs(2));
        if is_interrupted {
            let id = reading.id().to_string();
            assert!(Command::new("kill").args(["-INT", &id]).status().expect("it runs").success());
        } else {
            session.destroy();
        }
        let ended = reading.wait_in_time().expect("it ends");
        let [out, err] = [out, err].map(|path| fs::read_to_string(path).expect("it is text"));
        assert_eq!(ended.code(), Some(0), "{err}");
        assert!(out.contains("\"events\":35"), "{out}\n{err}");
    }
}

/// A folder with the plugin under the name that Babeltrace looks for.
fn plugin() -> TempDir {
    let folder = tempfile::tempdir().expect("there is room");
    let test = std::env::current_exe().expect("it has a path");
    // Cargo links it into the folder above only where the library itself is asked for.
    let built = test.parent().expect("it is in target/debug/deps");
    fs::copy(built.join("libltt_babeltrace2.so"), folder.path().join("babeltrace-plugin-ltt-top.so"))
        .expect("it is built");
    folder
}

fn babeltrace2(plugin: &TempDir, trace: &Path, sink: &str, parameters: &str) -> Output {
    let parameters = format!("program=\"{}\"{parameters}", program().display());
    Command::new("babeltrace2")
        .arg("--plugin-path")
        .arg(plugin.path())
        .arg(trace)
        .args(["--component", &format!("sink.ltt-top.{sink}"), "--params", &parameters])
        .env("TZ", "UTC")
        .output_in_time()
        .expect("it is installed")
}

#[test]
fn a_sink_of_the_plugin_says_what_the_program_says() {
    if !need("babeltrace2") {
        return;
    }
    let plugin = plugin();
    let trace = trace("valkey-mixed");
    for (sink, parameters, options) in [
        ("top", ", limit=5", &["--limit=5"][..]),
        ("top", ", format=\"json\", all=yes", &["--format=json", "--all"]),
        (
            "outliers",
            ", event=[\"command_call\", \"valkey_aof:*\"]",
            &["--event=command_call", "--event=valkey_aof:*"],
        ),
        ("incidents", "", &[]),
    ] {
        let (out, err, status) = text(babeltrace2(&plugin, &trace, sink, parameters));
        assert_eq!(status, Some(0), "{sink}: {err}");
        let (expected, ..) =
            text(ltt_top([sink].iter().chain(options).map(OsStr::new).chain([trace.as_os_str()])));
        assert!(out == expected, "{sink}{parameters}:\n{out}\n{expected}");
    }
    let page = plugin.path().join("page.html");
    let (_, err, status) =
        text(babeltrace2(&plugin, &trace, "html", &format!(", output=\"{}\"", page.display())));
    assert_eq!(status, Some(0), "{err}");
    assert!(fs::read_to_string(page).expect("it was written").contains("valkey_commands:command_call"));
}

#[test]
fn a_sink_that_fails_says_why() {
    if !need("babeltrace2") {
        return;
    }
    let plugin = plugin();
    for (parameters, reason) in [
        (", limit=\"many\"", "invalid value 'many'"),
        (", program=\"/nonexistent/ltt-top\"", "cannot be run"),
    ] {
        let (_, err, status) = text(babeltrace2(&plugin, &trace("valkey-mixed"), "top", parameters));
        assert_eq!(status, Some(1), "{err}");
        assert!(err.contains(reason), "{err}");
    }
}

#[test]
fn what_cannot_be_read_gets_one_line() {
    let trace = trace("valkey-mixed");
    let folder = tempfile::tempdir().expect("there is room");
    let copy = |cut: fn(&Path)| {
        let into = folder.path().join("cut");
        let _ = fs::remove_dir_all(&into);
        let copied = Command::new("cp").arg("-r").arg(&trace).arg(&into).output_in_time();
        assert!(copied.expect("cp runs").status.success());
        walk(&into, cut);
        into
    };
    // A packet that is cut in the middle.
    let cut = copy(|path| {
        let length = fs::metadata(path).map_or(0, |file| file.len());
        if path.file_name().is_some_and(|name| name != "metadata") && length > 100_000 {
            let file = fs::OpenOptions::new().write(true).open(path).expect("it is ours");
            file.set_len(length - 5_000).expect("it can be cut");
        }
    });
    let (_, err, status) = text(ltt_top(["top", "--source", "babeltrace2", cut.to_str().expect("UTF-8")]));
    assert_eq!((status, err.lines().count()), (Some(1), 1), "{err}");
    assert!(err.contains("Babeltrace 2: "), "{err}");
    let (_, err, status) = text(ltt_top(["top", "--source", "babeltrace2:nothing.here"]));
    assert_eq!((status, err.lines().count()), (Some(1), 1), "{err}");
    assert!(err.contains("no plugin `nothing`"), "{err}");
    let (_, err, status) = text(ltt_top(["top", "--source", "babeltrace2:nothing"]));
    assert_eq!((status, err.lines().count()), (Some(2), 1), "{err}");
    // A file that is not the library.
    fs::write(folder.path().join("libbabeltrace2.so.0"), "").expect("there is room");
    let output = Command::new(program())
        .args(["top", "--source", "babeltrace2"])
        .arg(&trace)
        .env("LD_LIBRARY_PATH", folder.path())
        .output_in_time();
    let (_, err, status) = text(output.expect("it runs"));
    assert_eq!((status, err.lines().count()), (Some(1), 1), "{err}");
    assert!(err.contains("Babeltrace 2 cannot be loaded"), "{err}");
}

fn walk(folder: &Path, visit: fn(&Path)) {
    for entry in fs::read_dir(folder).expect("it is ours").flatten() {
        match entry.path() {
            path if path.is_dir() => walk(&path, visit),
            path => visit(&path),
        }
    }
}

#[test]
fn nothing_leaks() {
    if !need("valgrind") {
        return;
    }
    let trace = trace("valkey-lite-busy");
    let output = Command::new("valgrind")
        .args([
            "--leak-check=full",
            "--show-leak-kinds=definite",
            "--errors-for-leak-kinds=definite",
            "--error-exitcode=9",
        ])
        .arg(program())
        .args(["top", "--limit=1", "--source", "babeltrace2"])
        .arg(trace)
        .output_in_time()
        .expect("it is installed");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}
