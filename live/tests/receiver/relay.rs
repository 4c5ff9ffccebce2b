//! A real relay and real session daemons: what is received is what the relay wrote.

use std::process::{Command, Stdio};
use std::time::Duration;

use ctf_reader::{Nothing, Progress, Reader, Step, Window, all_fields};
use lttng_live::{Options, Order, Seek, State, Url, sessions};
use lttng_testing::{Daemon, Relay, Session, Trace, build_outside, must_end, need_namespaces, wait_until};

use crate::support::Viewer;
use crate::tracee::Tracee;

const TIMER: u32 = 100_000;

fn started<'d>(daemon: &'d Daemon, relay: &Relay) -> Session<'d> {
    let session = daemon.live_session(relay, TIMER);
    session.record("tracee:*", &[]);
    session
}

/// What the viewer saw, in the order in which it came, is what the relay wrote. Babeltrace 1 gives the number of events;
/// it moves the clocks of several traces closer together, so that their times are those of the reader for files.
fn assert_complete(viewer: &Viewer, relay: &Relay) {
    assert_eq!(viewer.seen.len(), Trace::open(relay.folder()).events().len());
    let folder = Reader::open(&[relay.folder()]).expect("it is a trace");
    let mut events = folder.in_order(Window::default(), all_fields);
    for (place, (seen, _)) in viewer.seen.iter().enumerate() {
        let Step::Event(written) = events.next_event() else { panic!("only {place} events were written") };
        assert_eq!(*seen, written.timestamp(), "event {place}");
    }
}

#[test]
fn all_events_of_programs_that_come_and_go_arrive_in_order() {
    let (relay, daemon) = (Relay::start(), Daemon::start());
    let session = started(&daemon, &relay);
    // No stream yet.
    let mut viewer = Viewer::start(&[&session.url(&relay)], &Options::default());
    viewer.until("it is attached", |viewer| viewer.status().state == State::Attached);
    let mut first = Tracee::start(&daemon);
    first.emit("work", 10_000);
    viewer.until("the first events arrive", |viewer| viewer.seen.len() == 10_000);
    // Its events are new to the metadata.
    let mut second = Tracee::start(&daemon);
    second.emit("every_type", 500);
    first.emit("work", 5_000);
    viewer.until("the others arrive", |viewer| viewer.seen.len() == 15_500);
    drop(first);
    second.emit("work", 100);
    drop(second);
    session.destroy();
    viewer.until("the session ends", |viewer| viewer.has_ended);
    assert_eq!(viewer.status().state, State::Ended);
    assert_complete(&viewer, &relay);
    let report = viewer.report();
    assert_eq!((report.events, report.discarded_events, report.lost_packets), (15_600, 0, 0));
    assert!(report.damage.is_empty(), "{:?}", report.damage);
}

#[test]
fn buffers_of_each_process_are_traces_of_their_own() {
    let (relay, daemon) = (Relay::start(), Daemon::start());
    let session = daemon.live_session(&relay, TIMER);
    session.lttng("enable-channel", ["--userspace", "--buffers-pid", "own"]);
    session.enable_with("tracee:*", &["--channel=own"]);
    session.start();
    let mut viewer = Viewer::start(&[&session.url(&relay)], &Options::default());
    let mut programs = [Tracee::start(&daemon), Tracee::start(&daemon)];
    for round in 1..=3 {
        programs.iter_mut().for_each(|program| program.emit("work", 1000));
        viewer.until("both have been received", |viewer| viewer.seen.len() == 2000 * round);
    }
    assert_eq!(viewer.report().traces.len(), 2);
    drop(programs);
    // The streams of the first two have ended, and yet another comes.
    let mut third = Tracee::start(&daemon);
    third.emit("work", 10);
    viewer.until("the third has been received", |viewer| viewer.seen.len() == 6010);
    drop(third);
    session.destroy();
    viewer.until("the session ends", |viewer| viewer.has_ended);
    assert_complete(&viewer, &relay);
}

#[test]
fn discarded_events_are_counted_as_in_the_folder() {
    let (relay, daemon) = (Relay::start(), Daemon::start());
    let session = daemon.live_session(&relay, TIMER);
    session.lttng("enable-channel", ["--userspace", "--subbuf-size=4096", "--num-subbuf=2", "small"]);
    session.enable_with("tracee:*", &["--channel=small"]);
    session.start();
    let mut program = Tracee::start(&daemon);
    let mut viewer = Viewer::start(&[&session.url(&relay)], &Options::default());
    program.emit("work", 500_000);
    drop(program);
    session.destroy();
    viewer.until("the session ends", |viewer| viewer.has_ended);
    let folder = Reader::open(&[relay.folder()]).unwrap();
    let report = folder.read(Window::default(), Nothing, &Progress::default()).report;
    assert!(report.discarded_events > 0);
    let live = viewer.report();
    assert_eq!(
        (live.events, live.discarded_events, live.lost_packets),
        (report.events, report.discarded_events, report.lost_packets)
    );
    assert_eq!(live.events + live.discarded_events, 500_000);
}

#[test]
fn two_hosts_and_two_sessions_are_merged_by_time() {
    if !need_namespaces() {
        return;
    }
    let relay = Relay::start();
    let (here, there) = (Daemon::start(), Daemon::start_on("web-2"));
    let sessions_of = [started(&here, &relay), started(&there, &relay), started(&here, &relay)];
    let listed = sessions(&relay.viewer_url().parse().unwrap(), &Options::default()).unwrap();
    assert_eq!(listed.len(), 3);
    let hosts: std::collections::BTreeSet<_> = listed.iter().map(|session| &*session.hostname).collect();
    assert!(hosts.len() == 2 && hosts.contains("web-2"), "{hosts:?}");
    let urls: Vec<String> = listed
        .iter()
        .map(|session| format!("{}/host/{}/{}", relay.viewer_url(), session.hostname, session.name))
        .collect();
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    let mut viewer = Viewer::start(&urls, &Options::default());
    let mut programs = [Tracee::start(&here), Tracee::start(&there)];
    for _ in 0..5 {
        programs.iter_mut().for_each(|program| program.emit("work", 300));
    }
    // Both sessions of the first host have its events.
    viewer.until("all have been received", |viewer| viewer.seen.len() == 5 * 300 * 3);
    drop(programs);
    sessions_of.into_iter().for_each(Session::destroy);
    viewer.until("all sessions end", |viewer| viewer.has_ended);
    assert_complete(&viewer, &relay);
    let report = viewer.report();
    let hosts: Vec<_> = report.traces.iter().filter_map(|trace| trace.environment("hostname")).collect();
    assert!(hosts.contains(&"web-2"), "{hosts:?}");
}

#[test]
fn relay_that_is_stopped_holds_up_no_other_host() {
    if !need_namespaces() {
        return;
    }
    let relays = [Relay::start(), Relay::start()];
    let daemons = [Daemon::start(), Daemon::start_on("web-2")];
    let sessions_of = [started(&daemons[0], &relays[0]), started(&daemons[1], &relays[1])];
    let url = |place: usize| {
        let relay = relays[place].viewer_url();
        let listed = sessions(&relay.parse().unwrap(), &Options::default()).unwrap();
        format!("{relay}/host/{}/{}", listed[0].hostname, listed[0].name)
    };
    // Longer than the test waits: nothing goes on because a relay was given up.
    let (timeout, patience) = (Duration::from_secs(600), Duration::from_secs(600));
    let options = Options::default().with_timeout(timeout).with_patience(patience).with_order(Order::Host);
    let mut viewer = Viewer::start(&[&url(0), &url(1)], &options);
    let mut programs = daemons.each_ref().map(Tracee::start);
    programs.iter_mut().for_each(|program| program.emit("work", 100));
    viewer.until("both have been received", |viewer| viewer.seen.len() == 200);
    relays[1].pause();
    programs[0].emit("work", 1000);
    viewer.until("the other host goes on", |viewer| viewer.seen.len() == 1200);
    relays[1].resume();
    programs[1].emit("work", 50);
    viewer.until("it goes on, too", |viewer| viewer.seen.len() == 1250);
    drop(programs);
    sessions_of.into_iter().for_each(Session::destroy);
    viewer.until("all sessions end", |viewer| viewer.has_ended);
}

#[test]
fn beginning_now_leaves_out_what_was_before() {
    let (relay, daemon) = (Relay::start(), Daemon::start());
    let session = started(&daemon, &relay);
    let mut program = Tracee::start(&daemon);
    program.emit("work", 1000);
    let mut from_the_start = Viewer::start(&[&session.url(&relay)], &Options::default());
    from_the_start.until("all has been received", |viewer| viewer.seen.len() == 1000);
    drop(from_the_start);
    let options = Options::default().with_seek(Seek::Now);
    let mut viewer = Viewer::start(&[&session.url(&relay)], &options);
    viewer.until("it is attached", |viewer| viewer.status().state == State::Attached);
    program.emit("work", 7);
    viewer.until("what is new has been received", |viewer| !viewer.seen.is_empty());
    drop(program);
    session.destroy();
    viewer.until("the session ends", |viewer| viewer.has_ended);
    assert_eq!(viewer.seen.len(), 7);
}

#[test]
fn relay_that_is_killed_and_started_again_is_connected_to_again() {
    let (mut relay, mut daemon) = (Relay::start(), Daemon::start());
    let name;
    let mut viewer;
    {
        let session = started(&daemon, &relay);
        name = session.name().to_owned();
        let mut program = Tracee::start(&daemon);
        viewer = Viewer::start(&[&session.url(&relay)], &Options::default());
        program.emit("work", 100);
        viewer.until("events arrive", |viewer| viewer.seen.len() == 100);
        relay.kill();
        viewer.until("the loss is noticed", |viewer| matches!(viewer.status().state, State::Lost(_)));
        relay.restart();
    }
    // The session is gone with the relay; another one of the same name is found.
    daemon.stop();
    daemon.restart();
    let [timer, collector] = [format!("--live={TIMER}"), format!("--set-url={}", relay.collector_url())];
    daemon.lttng(["create", &name, &timer, &collector]);
    daemon.lttng(["enable-event", "--userspace", "tracee:*", "--session", &name]);
    daemon.lttng(["start", &name]);
    let mut program = Tracee::start(&daemon);
    program.emit("work", 50);
    viewer.until("what comes later is received too", |viewer| viewer.seen.len() == 150);
    assert_eq!(viewer.status().state, State::Attached);
    drop(program);
    daemon.lttng(["destroy", &name]);
    viewer.until("the session ends", |viewer| viewer.has_ended);
    assert_eq!(viewer.seen.len(), 150);
}

#[test]
fn relay_that_stalls_loses_nothing_and_repeats_nothing() {
    let (relay, daemon) = (Relay::start(), Daemon::start());
    let session = started(&daemon, &relay);
    let mut program = Tracee::start(&daemon);
    let (timeout, patience) = (Duration::from_millis(300), Duration::from_millis(300));
    let options = Options::default().with_timeout(timeout).with_patience(patience);
    let mut viewer = Viewer::start(&[&session.url(&relay)], &options);
    let mut emitted = 0;
    for round in 0..3 {
        program.emit("work", 20_000);
        emitted += 20_000;
        // In the middle of whatever it is sending.
        relay.pause();
        viewer.until("the stall is noticed", |viewer| matches!(viewer.status().state, State::Lost(_)));
        relay.resume();
        // On a busy machine it may take the relay for stalled once more.
        viewer.until(&format!("round {round} goes on"), |viewer| {
            viewer.seen.len() == emitted && viewer.status().state == State::Attached
        });
    }
    drop(program);
    session.destroy();
    viewer.until("the session ends", |viewer| viewer.has_ended);
    assert_complete(&viewer, &relay);
    assert_eq!(viewer.report().lost_packets, 0);
}

#[test]
fn session_whose_daemon_is_killed_ends() {
    let (relay, mut daemon) = (Relay::start(), Daemon::start());
    let session = started(&daemon, &relay);
    let address = session.url(&relay);
    session.abandon();
    let mut program = Tracee::start(&daemon);
    let mut viewer = Viewer::start(&[&address], &Options::default());
    program.emit("work", 100);
    viewer.until("events arrive", |viewer| viewer.seen.len() == 100);
    daemon.kill();
    drop(program);
    viewer.until("the session ends", |viewer| viewer.has_ended);
    assert_eq!(viewer.seen.len(), 100);
}

#[test]
fn session_that_is_not_there_is_an_error() {
    let relay = Relay::start();
    let mut viewer = Viewer::start(&[&format!("{}/nothing", relay.viewer_url())], &Options::default());
    viewer.until("it fails", |viewer| viewer.has_ended);
    assert_eq!(viewer.status().state, State::Failed("no such session".into()));
}

#[test]
#[ignore = "make check: builds a crate"]
fn a_program_outside_of_the_workspace_follows_a_session_to_its_end() {
    let (relay, daemon) = (Relay::start(), Daemon::start());
    let session = started(&daemon, &relay);
    let mut program = Tracee::start(&daemon);
    program.emit("work", 100);
    let mut follow = Command::new(build_outside("live/examples/outside").join("follow-session"));
    let follow = follow.arg(session.url(&relay)).stdout(Stdio::piped()).spawn().expect("it is built");
    let relay_url: Url = relay.viewer_url().parse().unwrap();
    wait_until("it is attached", || {
        sessions(&relay_url, &Options::default()).is_ok_and(|sessions| sessions[0].viewers == 1)
    });
    program.emit("work", 50);
    drop(program);
    session.destroy();
    let output = must_end("following", move || follow.wait_with_output().expect("it runs"));
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.lines().last(), Some("Ended, 150 events"), "{text}");
    assert_eq!(text.lines().filter(|line| line.ends_with(" tracee:work")).count(), 150);
}
