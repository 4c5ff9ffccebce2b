//! `ltt-top --source babeltrace2` and the plugin, beside `ltt-top` with its own reader.
//!
//! `LTT_TOP` names a program that was built with the feature `babeltrace2`: a stage of `make check` builds it and runs this.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::FileExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;

use case::Case;
use lttng_testing::{
    ChildInTime as _, CommandInTime as _, Daemon, Program, Relay, assert_golden, need, wait_until,
};
use tempfile::TempDir;

#[path = "../../ctf/tests/support/case.rs"]
mod case;

const COMMANDS: [&str; 5] = ["info", "top", "outliers", "incidents", "events"];

fn program() -> PathBuf {
    std::env::var_os("LTT_TOP").expect("LTT_TOP names ltt-top: see scripts/check.sh").into()
}

fn ltt_top(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Output {
    let mut program = Command::new(program());
    program.args(arguments).env("TZ", "UTC").env("BABELTRACE_PLUGIN_PATH", plugin());
    program.output_in_time().expect("it runs")
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
        assert_eq!(difference(&trace(name), "babeltrace2", &COMMANDS), "", "{name}");
    }
}

/// Traces as others may write them: other layouts, byte orders and clocks. `differences.txt` has what differs: by `source.ctf.fs`, and
/// by our own source, which hands every value to a graph and gets it back.
#[test]
fn hand_written_traces_are_read_alike_but_for_what_is_listed() {
    let folder = tempfile::tempdir().expect("there is room");
    let mut differences = String::new();
    for file in Case::files() {
        let text = fs::read_to_string(&file).expect("it is text");
        for (name, text) in Case::split(&text) {
            if file.to_string_lossy().contains("malformed") {
                continue;
            }
            let (case, _) = Case::parse(text);
            let trace = folder.path().join(name);
            fs::create_dir(&trace).expect("it is new");
            fs::write(trace.join("metadata"), case.metadata).expect("there is room");
            fs::write(trace.join("stream"), case.stream).expect("there is room");
            // Babeltrace 2.0.4 does not know CTF 2.
            let sources = [("babeltrace2", &COMMANDS[..]), ("babeltrace2:ltt-top.ctf", &["events"])];
            for (source, commands) in sources.into_iter().skip(usize::from(file.ends_with("ctf2.txt"))) {
                let difference = difference(&trace, source, commands);
                if !difference.is_empty() {
                    differences += &format!("{name} by {source}: {difference}\n");
                }
            }
        }
    }
    assert_golden(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/differences.txt"), &differences);
}

/// What differs between our reader and a source.
fn difference(trace: &Path, source: &str, commands: &[&str]) -> String {
    let mut different = Vec::new();
    for command in commands {
        let mut arguments = vec![command, "--format", "json", trace.to_str().expect("UTF-8")];
        // Of recorded traces, those that are still shown quickly.
        if *command == "events" && TRACES.iter().any(|name| trace.ends_with(name)) {
            arguments.extend(["--where", "duration>100us"]);
        }
        let mut native = text(ltt_top(&arguments));
        let mut other = text(ltt_top(arguments.iter().chain(&["--source", source])));
        // Of lists it does not say which field has their length.
        if source.ends_with("ltt-top.ctf") {
            (native.0, other.0) = (without_lengths(&native.0), without_lengths(&other.0));
        }
        match (native.2, other.2) {
            (Some(status), Some(1)) if status != 1 => {
                assert_eq!(other.1.lines().count(), 1, "{}", other.1);
                return format!("status {status}, refused by Babeltrace 2");
            }
            _ if native.0 == other.0 && native.2 == other.2 => {}
            (Some(native), Some(other)) if native != other => {
                different.push(format!("{command} (status {native} and {other})"));
            }
            _ => different.push((*command).to_owned()),
        }
    }
    different.join(", ")
}

/// JSON without fields that are lengths.
fn without_lengths(json: &str) -> String {
    json.replace('{', "{,").split(',').filter(|part| !part.contains("_length\":")).collect()
}

/// To the byte, but that all contexts are in one pair of braces. Babeltrace 1, since 2.0.4 has stale bytes for empty texts.
#[test]
fn our_source_gives_a_graph_what_babeltrace_1_reads() {
    if !need("babeltrace") || !need("babeltrace2") {
        return;
    }
    let trace = trace("valkey-mixed");
    let expected = Command::new("babeltrace").arg(&trace).env("TZ", "UTC").succeed();
    let ours = Command::new("babeltrace2")
        .args(["--component", "source.ltt-top.ctf", "--params"])
        .arg(format!("inputs=[\"{}\"]", trace.display()))
        .env("BABELTRACE_PLUGIN_PATH", plugin())
        .env("TZ", "UTC")
        .succeed();
    let differs =
        |(expected, ours): &(&str, &str)| expected.replace(" }, { ", ", ") != ours.replace(" }, { ", ", ");
    assert_eq!(expected.lines().zip(ours.lines()).find(differs), None);
    assert_eq!(expected.lines().count(), ours.lines().count());
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
            interrupt(&reading);
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
fn plugin() -> &'static Path {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let folder = tempfile::tempdir().expect("there is room");
        let test = std::env::current_exe().expect("it has a path");
        // Cargo links it into the folder above only where the library itself is asked for.
        let built = test.with_file_name("libltt_babeltrace2.so");
        fs::copy(built, folder.path().join("babeltrace-plugin-ltt-top.so")).expect("it is built");
        folder
    });
    folder.path()
}

fn babeltrace2(trace: &Path, sink: &str, parameters: &str) -> Output {
    let parameters = format!("program=\"{}\"{parameters}", program().display());
    Command::new("babeltrace2")
        .arg("--plugin-path")
        .arg(plugin())
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
        let (out, err, status) = text(babeltrace2(&trace, sink, parameters));
        assert_eq!(status, Some(0), "{sink}: {err}");
        let (expected, ..) =
            text(ltt_top([sink].iter().chain(options).map(OsStr::new).chain([trace.as_os_str()])));
        assert!(out == expected, "{sink}{parameters}:\n{out}\n{expected}");
    }
    let folder = tempfile::tempdir().expect("there is room");
    let page = folder.path().join("page.html");
    let (_, err, status) = text(babeltrace2(&trace, "html", &format!(", output=\"{}\"", page.display())));
    assert_eq!(status, Some(0), "{err}");
    assert!(fs::read_to_string(page).expect("it was written").contains("valkey_commands:command_call"));
}

#[test]
fn a_sink_that_fails_says_why() {
    if !need("babeltrace2") {
        return;
    }
    for (parameters, reason) in [
        (", limit=\"many\"", "invalid value 'many'"),
        (", program=\"/nonexistent/ltt-top\"", "cannot be run"),
    ] {
        let (_, err, status) = text(babeltrace2(&trace("valkey-mixed"), "top", parameters));
        assert_eq!(status, Some(1), "{err}");
        assert!(err.contains(reason), "{err}");
    }
}

/// A copy of a trace whose largest file is changed.
fn damaged(change: fn(&fs::File, u64)) -> TempDir {
    let folder = tempfile::tempdir().expect("there is room");
    let copied = Command::new("cp").arg("-r").arg(trace("valkey-mixed")).arg(folder.path()).status_in_time();
    assert!(copied.expect("cp runs").success());
    let files = Command::new("find").arg(folder.path()).args(["-name", "ch_*"]).succeed();
    let length = |file: &&str| fs::metadata(file).expect("it is there").len();
    let largest = files.lines().max_by_key(length).expect("there are streams");
    change(&fs::OpenOptions::new().write(true).open(largest).expect("it is ours"), length(&largest));
    folder
}

#[test]
fn what_cannot_be_read_gets_one_line() {
    let cut = damaged(|file, length| file.set_len(length - 5_000).expect("it can be cut"));
    let cut = cut.path().to_str().expect("UTF-8");
    for (arguments, expected, reason) in [
        (&["babeltrace2", cut][..], 1, "Babeltrace 2: Cannot create trace for "),
        (&["babeltrace2:nothing.here"], 1, "no plugin `nothing`"),
        (&["babeltrace2:ctf.here"], 1, "has no source `here`"),
        (&["babeltrace2:nothing"], 2, "is not PLUGIN.CLASS"),
        (
            &["babeltrace2:text.dmesg", "--source-param", "path=/"],
            1,
            "Component initialization method failed\n",
        ),
        (&["babeltrace2:ltt-top.ctf", "/nonexistent"], 1, "/nonexistent: cannot be opened"),
    ] {
        let (_, err, status) = text(ltt_top(["top", "--source"].iter().chain(arguments)));
        assert_eq!((status, err.lines().count()), (Some(expected), 1), "{err}");
        assert!(err.contains(reason), "{err}");
    }
    // Other traces are read.
    let other = trace("valkey-lite-busy");
    let arguments = ["info", cut, other.to_str().expect("UTF-8"), "--source", "babeltrace2"];
    let (out, err, status) = text(ltt_top(arguments));
    assert_eq!((status, err.as_str()), (Some(3), ""), "{out}");
    assert!(out.starts_with("33,892 events") && out.contains(": nothing of it was read"), "{out}");
}

/// As with our reader: what was read is shown, the rest is named, and the status says so.
#[test]
fn a_component_that_fails_in_the_middle_leaves_what_it_read() {
    let damaged = damaged(|file, length| file.write_all_at(&[0xff; 64], length / 2).expect("there is room"));
    let path = damaged.path().to_str().expect("UTF-8");
    assert_eq!(text(ltt_top(["info", path])).2, Some(3));
    let (out, err, status) = text(ltt_top(["info", path, "--source", "babeltrace2"]));
    assert_eq!((status, err.as_str()), (Some(3), ""), "{out}");
    assert!(
        out.contains("No event class with ID of event class ID to use in stream class: nothing after that")
    );
    assert!(out.contains("valkey_commands:command_call") && out.contains("1 damaged place"), "{out}");
    // A graph of others ends with the failure, and nothing is shown.
    let (out, err, status) = text(babeltrace2(damaged.path(), "top", ""));
    assert_eq!((out.as_str(), status), ("", Some(1)), "{err}");
}

#[test]
fn a_library_that_is_missing_or_another_one_gets_one_line() {
    let folder = tempfile::tempdir().expect("there is room");
    let library = folder.path().join("libbabeltrace2.so.0");
    let compile = |source: String| {
        let file = folder.path().join("library.c");
        fs::write(&file, source).expect("there is room");
        Command::new("cc").args(["-shared", "-w", "-o"]).arg(&library).arg(&file).succeed();
    };
    let expect = |reason: &str| {
        let mut top = Command::new(program());
        top.args(["top", "--source", "babeltrace2"]).arg(trace("valkey-lite-busy"));
        let (_, err, status) =
            text(top.env("LD_LIBRARY_PATH", folder.path()).output_in_time().expect("it runs"));
        assert_eq!((status, err.lines().count()), (Some(1), 1), "{err}");
        assert!(err.contains(reason), "{err}");
    };
    fs::write(&library, "").expect("there is room");
    expect("Babeltrace 2 cannot be loaded");
    compile("int unrelated;".to_owned());
    expect("Babeltrace 2 is too old");
    // All of its functions, and each says 3.
    let bindings = include_str!(concat!(env!("OUT_DIR"), "/babeltrace2.rs"));
    let fields = bindings.lines().filter_map(|line| line.trim().strip_prefix("pub bt_")?.split_once(':'));
    compile(fields.map(|(name, _)| format!("int bt_{name}() {{ return 3; }}\n")).collect());
    expect("Babeltrace 3 is not supported");
}

#[test]
fn an_interrupt_leaves_nothing_behind() {
    let folder = tempfile::tempdir().expect("there is room");
    let mut reading = Command::new(program())
        .args(["info", "--source", "babeltrace2:text.dmesg"])
        .env("TMPDIR", folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    let input = reading.stdin.take();
    let maps = format!("/proc/{}/maps", reading.id());
    wait_until("its source is loaded", || {
        fs::read_to_string(&maps).is_ok_and(|maps| maps.contains("babeltrace-plugin-text"))
    });
    interrupt(&reading);
    let output = reading.output_in_time().expect("it ends");
    assert_eq!((output.status.signal(), output.stderr.len()), (Some(2), 0), "{output:?}");
    assert_eq!(fs::read_dir(folder.path()).expect("it is there").count(), 0);
    drop(input);
}

fn interrupt(process: &Child) {
    Command::new("kill").args(["-INT", &process.id().to_string()]).succeed();
}

/// By a graph with our own source, so that both the program and the plugin are looked at.
#[test]
fn nothing_leaks() {
    if !need("valgrind") {
        return;
    }
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--leak-check=full", "--show-leak-kinds=definite", "--errors-for-leak-kinds=definite"]);
    valgrind.arg("--error-exitcode=9").arg(program()).args(["top", "--limit=1", "--source"]);
    valgrind.arg("babeltrace2:ltt-top.ctf").arg(trace("valkey-lite-busy"));
    valgrind.env("BABELTRACE_PLUGIN_PATH", plugin()).succeed();
}
