//! Stalls provoked one by one on a server under load: `ltt-top incidents` tells each once, with its cause, its beginning
//! and what no event explains. Babeltrace says what is in the trace.

mod oracle;
mod report;
mod schedule;
mod stage;
mod verdict;

use std::thread;
use std::time::Duration;

use lttng_testing::wait_until;
use report::Incident;
use stage::{Long, Play, Recording, Scene};

/// How long a place stalls that is made to: much longer than a busy machine takes for a turn.
const STALL_US: i64 = 300_000;
const STALL: i64 = STALL_US * 1000;

/// Has a place take long the next time.
fn stall(scene: &mut Scene, place: &str) {
    scene.ask(&format!("DEBUG STALL {place} {STALL_US}"));
}

/// Has a place stall, and does what leads there.
fn stalled(options: &[&str], place: &str, lead_there: &dyn Fn(&mut Scene)) -> Recording {
    let provoke = |scene: &mut Scene| {
        stall(scene, place);
        lead_there(scene);
    };
    Play { options, provoke: &provoke, ..Play::default() }.record()
}

/// Has the server do real work, of which the longest interval of this label is the most.
fn worked(label: &'static str, prepare: &dyn Fn(&mut Scene), provoke: &dyn Fn(&mut Scene)) -> Recording {
    Play { long: Long::HalfOf(label), prepare, provoke, ..Play::default() }.record()
}

/// Asserts that the one turn whose chain begins with these labels was caused by one of these causes; returns the turn.
#[track_caller]
fn caused_by<'r>(recording: &'r Recording, chain: &[&str], causes: &[&str]) -> &'r Incident {
    let incident = recording.only_turn(chain);
    let cause = incident.cause.as_ref().expect("a cause");
    assert!(causes.contains(&cause.label.as_str()), "{incident:#?}");
    incident
}

/// The same, where a command of the culprit is the cause.
#[track_caller]
fn caused_by_culprit<'r>(recording: &'r Recording, chain: &[&str]) -> &'r Incident {
    let incident = caused_by(recording, chain, &chain[1..2]);
    let client = incident.cause.as_ref().and_then(|cause| cause.client.as_ref());
    assert_eq!(client, Some(&recording.culprit));
    incident
}

#[test]
fn keys_is_the_cause() {
    let populate = |scene: &mut Scene| _ = scene.ask("DEBUG POPULATE 20000");
    let recording = worked("keys", &populate, &|scene| _ = scene.ask("KEYS *"));
    caused_by_culprit(&recording, &["eventloop", "keys"]);
}

#[test]
fn deleting_a_large_set_is_the_cause() {
    let fill = |scene: &mut Scene| scene.fill_set("large", 200_000);
    let recording = worked("del", &fill, &|scene| _ = scene.ask("DEL large"));
    caused_by_culprit(&recording, &["eventloop", "del"]);
}

#[test]
fn a_transaction_is_the_cause_and_what_is_slow_in_it_is_told() {
    let populate = |scene: &mut Scene| _ = scene.ask("DEBUG POPULATE 8000");
    let recording = worked("exec", &populate, &|scene| {
        for request in ["MULTI", "SET a 1", "KEYS *", "KEYS *", "SET b 2", "KEYS *", "KEYS *", "EXEC"] {
            scene.ask(request);
        }
    });
    caused_by_culprit(&recording, &["eventloop", "exec", "keys"]);
}

#[test]
fn the_fork_of_a_snapshot_is_the_cause() {
    let recording = stalled(&[], "fork", &|scene| {
        scene.ask("BGSAVE");
        wait_until("the snapshot is written", || scene.culprit.info("rdb_bgsave_in_progress") == "0");
    });
    let incident = caused_by_culprit(&recording, &["eventloop", "bgsave", "fork"]);
    assert!(incident.chain[2].duration >= STALL, "{incident:#?}");
}

#[test]
fn the_fork_of_a_rewrite_is_the_cause() {
    let recording = stalled(&["--appendonly", "yes"], "fork", &|scene| {
        scene.ask("BGREWRITEAOF");
        wait_until("the file is rewritten", || {
            ["aof_rewrite_scheduled", "aof_rewrite_in_progress"].map(|name| scene.culprit.info(name))
                == ["0", "0"]
        });
    });
    caused_by(&recording, &["eventloop", "fork"], &["fork"]);
}

/// The cause is the innermost of these, which was made to stall.
#[track_caller]
fn stalls_alone(recording: &Recording, chain: &[&str]) {
    let incident = caused_by(recording, chain, &chain[chain.len() - 1..]);
    assert!(incident.cause.as_ref().is_some_and(|cause| cause.duration >= STALL), "{incident:#?}");
}

#[test]
fn a_sync_of_the_append_only_file_is_the_cause() {
    let options = ["--appendonly", "yes", "--appendfsync", "always"];
    let recording = stalled(&options, "aof-fsync", &|scene| _ = scene.ask("SET a 1"));
    stalls_alone(&recording, &["eventloop", "aof_flush", "aof_fsync_always"]);
}

#[test]
fn a_write_to_the_append_only_file_is_the_cause() {
    let recording = stalled(&["--appendonly", "yes"], "aof-write", &|scene| _ = scene.ask("SET a 1"));
    stalls_alone(&recording, &["eventloop", "aof_flush", "aof_write"]);
}

#[test]
fn keys_that_expire_at_once_are_the_cause() {
    const KEYS: usize = 5000;
    let recording = Play {
        long: Long::HalfOf("expire_cycle_keys"),
        // Rare cycles may take long.
        options: &["--hz", "1"],
        prepare: &|scene| {
            scene.ask("DEBUG SET-ACTIVE-EXPIRE 0");
            for key in 0..KEYS {
                scene.culprit.request(&format!("SET key:{key} value PX 1"));
            }
            (0..KEYS).for_each(|_| assert_eq!(scene.culprit.reply(), "OK"));
        },
        provoke: &|scene| {
            scene.ask("DEBUG SET-ACTIVE-EXPIRE 1");
            wait_until("the keys are gone", || scene.culprit.info("expired_keys") == KEYS.to_string());
        },
    }
    .record();
    // A cycle ends when its time is up, and a busy machine needs several.
    for incident in recording.turns(&["eventloop", "expire_cycle", "expire_cycle_keys"]) {
        let cause = incident.cause.as_ref().expect("a cause");
        assert!(["expire_cycle_keys", "expire_del"].contains(&cause.label.as_str()), "{incident:#?}");
    }
}

/// Has the server evict all of its data.
fn evict_all(scene: &mut Scene) {
    scene.ask("CONFIG SET maxmemory-policy allkeys-lru");
    scene.ask("CONFIG SET maxmemory-eviction-tenacity 100");
    scene.ask("CONFIG SET maxmemory 1");
    wait_until("all is evicted", || scene.ask("DBSIZE") == "0");
    scene.ask("CONFIG SET maxmemory 0");
}

#[test]
fn eviction_is_the_cause() {
    let populate = |scene: &mut Scene| _ = scene.ask("DEBUG POPULATE 5000");
    let recording = worked("eviction_cycle", &populate, &evict_all);
    caused_by(&recording, &["eventloop", "eviction_cycle"], &["eviction_cycle", "eviction_del"]);
}

#[test]
fn waiting_for_lazy_freeing_is_the_cause() {
    let recording = stalled(&[], "lazy-free", &|scene| {
        scene.fill_set("large", 10_000);
        evict_all(scene);
    });
    stalls_alone(&recording, &["eventloop", "eviction_cycle", "eviction_lazyfree"]);
}

#[test]
fn defragmentation_is_the_cause() {
    let recording = stalled(&["--activedefrag", "yes"], "defrag", &|scene| scene.wait_for_stall("defrag"));
    stalls_alone(&recording, &["eventloop", "active_defrag_cycle"]);
}

#[test]
fn saving_the_cluster_configuration_is_the_cause() {
    let recording = stalled(&[], "cluster-fsync", &|scene| _ = scene.ask("CLUSTER SAVECONFIG"));
    let incident = caused_by_culprit(&recording, &["eventloop", "saveconfig", "cluster_config_fsync"]);
    assert!(incident.chain[2].duration >= STALL, "{incident:#?}");
}

#[test]
fn the_lock_of_modules_is_the_cause() {
    let recording = Play {
        options: &["--sampler", "yes"],
        // The loop may be at work for a while when the sampler takes the lock.
        long: Long::HalfOf("module_acquire_gil"),
        provoke: &|scene| {
            stall(scene, "sampler");
            scene.wait_for_stall("sampler");
        },
        ..Play::default()
    }
    .record();
    let longest = recording.oracle.longest("module_acquire_gil");
    let incident = recording.only(|incident| incident.end == longest.end);
    assert_eq!((incident.kind.as_str(), incident.labels()), ("interval", vec!["module_acquire_gil"]));
    recording.began_when_provoked(incident);
    assert_eq!(incident.held, longest.length());
    assert_eq!(incident.cause.as_ref().map(|cause| cause.label.as_str()), Some("module_acquire_gil"));
}

#[test]
fn what_no_event_covers_is_unexplained() {
    let recording = stalled(&[], "read", &|scene| scene.wait_for_stall("read"));
    let incident = recording.only(|incident| incident.kind == "turn" && incident.unexplained >= STALL);
    // The request beside that time is named, with what it took itself.
    assert_eq!(incident.labels()[0], "eventloop", "{incident:#?}");
    assert!(incident.cause.as_ref().is_none_or(|beside| beside.duration < STALL), "{incident:#?}");
}

/// A recording in which a silence is told. Without samples of the scheduler it is likely at best: clients that happen to be served
/// one after the other do not show it.
fn told(provoke: &dyn Fn(&mut Scene)) -> Recording {
    let mut recordings = (0..5).map(|_| Play { provoke, ..Play::default() }.record());
    recordings.find(Recording::is_told).expect("one of five silences is told")
}

/// How long a process is stopped: much longer than its busy clients leave it idle.
const STOPPED: Duration = Duration::from_secs(1);

#[test]
fn a_stopped_process_is_told_once_and_unexplained() {
    let recording = told(&|scene| {
        schedule::signal(&scene.server, "STOP");
        thread::sleep(STOPPED);
        schedule::signal(&scene.server, "CONT");
    });
    let incident = recording.only(|incident| incident.held >= STOPPED.as_nanos() as i64);
    match incident.kind.as_str() {
        // It was asleep, as it is most of the time: it is held up from a moment after the end of its last turn.
        "silence" => {
            let of_server = recording.oracle.intervals.iter().filter(|interval| interval.pid == incident.pid);
            let before = of_server.filter(|interval| interval.end <= incident.begin);
            let last = before.map(|interval| interval.end).max().expect("it turned before");
            assert!(incident.begin - last < STOPPED.as_nanos() as i64 / 10, "{incident:#?}");
            assert_eq!(incident.unexplained, incident.held);
        }
        // It was at work, and what it was at seems to have taken that long.
        kind => assert_eq!(kind, "turn"),
    }
    assert!(incident.waited.0 > 0, "nobody waited: {incident:#?}");
}

#[test]
fn a_process_that_is_busy_meanwhile_is_named() {
    let recording = told(&|scene| {
        // Stopped, and not only without a CPU, which the kernel decides: all that the neighbour does is meanwhile.
        schedule::signal(&scene.server, "STOP");
        assert_eq!(scene.neighbour.connect().ask("DEBUG SLEEP 1"), "OK");
        schedule::signal(&scene.server, "CONT");
    });
    let busy = recording.oracle.longest("sleep");
    let incident = recording.only(|incident| {
        // A silence begins when it is sure, which is a moment later.
        incident.kind == "silence"
            && incident.begin <= busy.begin + busy.length() / 10
            && busy.end <= incident.end
    });
    let named = incident.meanwhile.iter().filter(|(pid, _)| *pid == recording.neighbour);
    assert_eq!(
        named.collect::<Vec<_>>(),
        [&(recording.neighbour, Some("sleep".to_owned()))],
        "{incident:#?}"
    );
}

#[test]
fn a_storm_of_stalls_agrees_with_the_trace() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let recording = Play {
        options: &[
            "--appendonly",
            "yes",
            "--appendfsync",
            "always",
            "--activedefrag",
            "yes",
            "--sampler",
            "yes",
            "--hz",
            "100",
        ],
        long: Long::Milliseconds(1),
        prepare: &|scene| _ = scene.ask("DEBUG POPULATE 2000"),
        provoke: &|scene| storm(scene, &mut fastrand::Rng::with_seed(seed)),
    }
    .record();
    recording.agrees_with_the_trace();
    let found = recording.report.incidents.iter().filter(|incident| incident.pid == recording.pid).count();
    assert!(found >= STORM / 2, "{found} incidents of {STORM} stalls");
}

/// How many stalls a storm has.
const STORM: usize = 40;

/// Stalls of 1 to 8 ms at any places, several of them in one turn.
fn storm(scene: &mut Scene, random: &mut fastrand::Rng) {
    const PLACES: [&str; 7] =
        ["read", "fork", "aof-write", "aof-fsync", "cluster-fsync", "defrag", "sampler"];
    const REQUESTS: [&str; 6] =
        ["KEYS *", "SET a 1", "CLUSTER SAVECONFIG", "BGREWRITEAOF", "DEBUG SLEEP 0.003", "DBSIZE"];
    for _ in 0..STORM {
        let (place, length) = (random.choice(PLACES).expect("a place"), random.u32(1000..8000));
        let mut requests = vec![format!("DEBUG STALL {place} {length}")];
        requests
            .extend((0..random.usize(1..5)).map(|_| random.choice(REQUESTS).expect("a request").to_owned()));
        if random.bool() {
            requests.insert(1, "MULTI".to_owned());
            requests.push("EXEC".to_owned());
        }
        requests.iter().for_each(|request| scene.culprit.request(request));
        requests.iter().for_each(|_| _ = scene.culprit.reply());
    }
}
