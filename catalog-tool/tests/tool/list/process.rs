//! Running processes: what they have loaded, and who traces them now.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use lttng_testing::Daemon;
use serde_json::Value;

use super::built::{Built, list, plain};

/// A running `offers`, ended with its input.
struct Running {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Running {
    fn start(mut command: Command) -> Running {
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        let input = process.stdin.take();
        let output = BufReader::new(process.stdout.take().expect("it has one"));
        let mut running = Running { process, input, output };
        assert_eq!(running.answer(), "ready");
        running
    }

    fn say(&mut self, line: &str) {
        writeln!(self.input.as_mut().expect("it runs"), "{line}").expect("it listens");
        assert_eq!(self.answer(), "done");
    }

    fn answer(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("it answers");
        line.trim_end().to_owned()
    }

    fn offer(&self) -> Value {
        let (status, json, said) = list(&[&self.process.id().to_string()]);
        assert_eq!((status, &*said), (0, ""));
        json
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.input.take();
        let _ = self.process.wait();
    }
}

/// The number of tracers of `command__get`.
fn attached(offer: &Value) -> Value {
    let probes = offer["files"][0]["probes"].as_array().expect("a list");
    probes.iter().find(|probe| probe["name"] == "command__get").expect("it is listed")["attached"].clone()
}

#[test]
#[ignore = "make check: sys/sdt.h"]
fn a_semaphore_tells_how_many_tracers_are_attached() {
    for built in [Built::new(&["-no-pie"]), Built::new(&[]).strip()] {
        let mut running = Running::start(Command::new(built.path()));
        assert_eq!(attached(&running.offer()), 0);
        running.say("attach");
        running.say("attach");
        assert_eq!(attached(&running.offer()), 2);
        running.say("detach");
        let offer = running.offer();
        assert_eq!(attached(&offer), 1);
        assert_eq!(offer["pid"], running.process.id());
        assert!(offer["searched"].as_u64().is_some_and(|files| files >= 3), "libc and the loader, at least");
    }
}

/// The real tracer, where the kernel allows it.
#[test]
#[ignore = "make check: bpftrace"]
fn bpftrace_is_seen_while_it_is_attached() {
    if !lttng_testing::need("bpftrace") {
        return;
    }
    let built = Built::new(&[]);
    let mut running = Running::start(Command::new(built.path()));
    let script = format!(
        "usdt:{}:memcached:command__get {{ printf(\"%s\\n\", str(arg1)); exit(); }}",
        built.path().display()
    );
    let mut tracer = Command::new("bpftrace")
        .args(["-p", &running.process.id().to_string(), "-e", &script])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("bpftrace is installed");
    let mut ended = None;
    lttng_testing::wait_until("bpftrace is attached, or has given up", || {
        ended = tracer.try_wait().expect("it is our child");
        ended.is_some() || attached(&running.offer()) == 1
    });
    if let Some(status) = ended {
        let output = tracer.wait_with_output().expect("it has ended");
        let why = format!("bpftrace cannot attach: {status}: {}", String::from_utf8_lossy(&output.stderr));
        lttng_testing::not_allowed("uprobes", &why);
        return;
    }
    // The semaphore is raised before the program is attached, so one event may be too early.
    lttng_testing::wait_until("bpftrace has seen an event", || {
        running.say("seen");
        tracer.try_wait().expect("it is our child").is_some()
    });
    let output = tracer.wait_with_output().expect("it has ended");
    assert!(String::from_utf8_lossy(&output.stdout).contains("seen"), "{output:?}");
    lttng_testing::wait_until("the semaphore is 0 again", || attached(&running.offer()) == 0);
}

#[test]
#[ignore = "make check: sys/sdt.h"]
fn a_program_that_was_deleted_is_still_what_runs() {
    let built = Built::new(&[]);
    let running = Running::start(Command::new(built.path()));
    std::fs::remove_file(built.path()).expect("it is there");
    let (status, json, said) = list(&[&running.process.id().to_string()]);
    // Only the privileged reach a file that has no name any more.
    match status {
        0 => assert_eq!(attached(&json), 0),
        _ => assert!(status == 3 && said.contains("cannot be read"), "{status}: {said}"),
    }
}

#[test]
#[ignore = "make check: sys/sdt.h"]
fn events_are_those_of_the_session_daemon_and_on_while_it_records() {
    let daemon = Daemon::start();
    let mut running = Running::start(daemon.command(plain().path()));
    let state = |offer: &Value| -> Vec<(String, Value)> {
        let events = offer["files"][0]["events"].as_array().expect("a list");
        events
            .iter()
            .map(|event| (event["name"].as_str().expect("a name").to_owned(), event["enabled"].clone()))
            .collect()
    };
    let offer = running.offer();
    assert!(state(&offer).iter().all(|(_, enabled)| *enabled == false), "{offer}");

    let listed = daemon.lttng(["list", "--userspace", "--fields"]);
    let mut said: BTreeSet<String> = BTreeSet::new();
    let mut event = String::new();
    for line in listed.lines().map(str::trim) {
        if line.contains(" (loglevel: ") {
            event = line.split(' ').next().unwrap_or_default().to_owned();
        } else if let Some(field) = line.strip_prefix("field: ") {
            said.insert(format!("{event} {}", field.split(' ').next().unwrap_or_default()));
        }
    }
    let mut found = BTreeSet::new();
    for event in offer["files"][0]["events"].as_array().expect("a list") {
        for field in event["fields"].as_array().expect("a list") {
            let name = |value: &Value| value.as_str().expect("a name").to_owned();
            found.insert(format!("shop:{} {}", name(&event["name"]), name(&field["name"])));
        }
    }
    assert!(!said.is_empty(), "{listed}");
    // The daemon lists what the library itself offers, too, and the hidden fields of lengths.
    said.retain(|field| field.starts_with("shop:") && !field.contains(" _"));
    assert_eq!(found, said);

    let session = daemon.recording(&["shop:sale"]);
    let on = |running: &Running| state(&running.offer()).into_iter().filter(|(_, enabled)| *enabled == true);
    lttng_testing::wait_until("the event is on", || on(&running).count() > 0);
    assert_eq!(on(&running).map(|(name, _)| name).collect::<Vec<_>>(), ["sale"]);
    running.say("emit");
    assert_eq!(session.stop().events().len(), 1);
    lttng_testing::wait_until("the event is off", || on(&running).count() == 0);
}

/// Its program is known by its command line; who traces it is not.
#[test]
fn a_process_of_another_user_is_listed_without_what_only_its_memory_says() {
    if !fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0) {
        return lttng_testing::not_allowed("a process as another user", "only root can start one");
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let open =
        |path: &Path| fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("it is ours");
    open(folder.path());
    let tool = folder.path().join("lttng-catalog");
    fs::copy(env!("CARGO_BIN_EXE_lttng-catalog"), &tool).expect("a writable folder");
    open(&tool);
    let mut process = Command::new("/bin/sleep").arg("100").spawn().expect("it starts");
    let mut list = Command::new(&tool);
    let list = list.args(["list", &process.id().to_string(), "--format", "json"]).current_dir("/");
    let output = list.uid(65534).gid(65534).output().expect("it runs");
    process.kill().and_then(|()| process.wait()).expect("it is our child");

    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("cannot inspect process") && said.contains("/bin/sleep"), "{said}");
    let offer: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    assert!(offer["pid"].is_number() && offer["searched"].as_u64() >= Some(2), "{offer}");
    for file in offer["files"].as_array().expect("a list") {
        let probes = file["probes"].as_array().expect("a list");
        assert!(probes.iter().all(|probe| probe["attached"].is_null()), "{file}");
    }
}

#[test]
fn processes_that_do_not_exist_are_refused() {
    let (status, json, said) = list(&["4194305"]);
    assert_eq!((status, json), (1, Value::Null));
    assert!(said.contains("no process 4194305"), "{said}");
}
