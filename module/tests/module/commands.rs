//! Commands: how long each took, and how many there were.

use std::collections::BTreeMap;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use lttng_testing::{Connection, Daemon, Session, wait_until};

use crate::support::{Stock, command, duration, slow_log};

/// How often a slow command is repeated until nothing else kept the processor from the server meanwhile.
const ATTEMPTS: usize = 5;

/// Commands that take milliseconds on what `fill` leaves.
const SLOW: [&[&str]; 10] = [
    &["KEYS", "*"],
    &["DEBUG", "SLEEP", "0.02"],
    &["EVAL", "local n = 0; for i = 1, 2000000 do n = n + i end; return n", "0"],
    &["EVAL", "for i = 1, 20000 do redis.call('get', 'key:' .. i) end", "0"],
    &["SMEMBERS", "set"],
    &["SORT", "set", "BY", "nosort", "GET", "#", "LIMIT", "0", "30000"],
    &["SUNIONSTORE", "copy", "set"],
    &["DEL", "copy"],
    &["LRANGE", "list", "0", "-1"],
    &["DEBUG", "DIGEST"],
];

fn fill(client: &mut Connection) {
    client.ask("DEBUG POPULATE 50000");
    client.ask_words(&[
        "EVAL",
        "for i = 1, 40000 do redis.call('sadd', 'set', 'member:' .. i); redis.call('rpush', 'list', 'element:' .. i) end",
        "0",
    ]);
}

/// How far the wall clock, by which the slow log measures, is ahead of the steady one, by which the module does; microseconds.
fn wall_ahead_us(origin: Instant) -> i64 {
    let look = || {
        let before = origin.elapsed();
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970");
        (origin.elapsed() - before, wall.as_micros() as i64 - before.as_micros() as i64)
    };
    // The look that least came between.
    (0..20).map(|_| look()).min().expect("a look").1
}

/// Each slow command is recorded with the duration that the slow log has, within 2 % or 200 µs, but for the time in which others
/// had the processor (the client that is answered is one of them, before the server gets to sleep), and for what the wall clock was
/// set forward or back by, as on virtual machines.
pub fn slow_commands_last_as_long_as_the_slow_log_says(stock: &Stock) {
    let daemon = Daemon::start();
    let server = stock.start(&daemon, &["--slowlog-log-slower-than", "0"]);
    let mut client = server.connect();
    fill(&mut client);
    let session = daemon.recording(&["valkey_commands:*"]);
    let (mut expected, origin) = (Vec::new(), Instant::now());
    for words in SLOW.iter().flat_map(|words| [words; ATTEMPTS]) {
        if words[0] == "DEL" {
            client.ask("SUNIONSTORE copy set");
        }
        let queued_us = || server.scheduled_ns()[1] / 1000;
        let (queued, ahead) = (queued_us(), wall_ahead_us(origin));
        let reply = client.ask_words(words);
        assert!(!reply.starts_with('-'), "{words:?}: {reply}");
        let slow_log = slow_log(&mut client);
        let set_us = wall_ahead_us(origin) - ahead;
        expected.push((words[0].to_ascii_lowercase(), slow_log, queued_us() - queued, set_us));
    }
    let mut recorded =
        session.stop().events().into_iter().filter(|event| event.name.ends_with(":command_call"));
    let mut differences: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (index, (name, slow_log, queued, set_us)) in expected.iter().enumerate() {
        let found = recorded.find(|event| command(event).0 == *name);
        let found = found.unwrap_or_else(|| panic!("{name} of {slow_log} µs is not recorded"));
        let difference = duration(&found) as i64 - *slow_log as i64;
        // It begins before the server's own measurement and ends after it, which counts microseconds of another clock.
        let most = ((slow_log / 50).max(200) + queued) as i64 + (-set_us).max(0);
        let is_near = (-1 - (*set_us).max(0)..=most).contains(&difference);
        differences
            .entry((index / ATTEMPTS, name))
            .or_default()
            .push((is_near, *slow_log, difference, *set_us));
    }
    assert_eq!(differences.len(), SLOW.len());
    for (name, attempts) in differences {
        println!("{name:?}: {attempts:?}");
        assert!(attempts.iter().any(|(is_near, ..)| *is_near), "{name:?}: {attempts:?}");
    }
}

/// A session whose buffers hold all that a burst of commands makes.
fn large_session(daemon: &Daemon) -> Session<'_> {
    let session = daemon.session();
    session.lttng("enable-channel", ["--userspace", "--subbuf-size=8M", "--num-subbuf=4", "large"]);
    session.enable_with("valkey_commands:*", &["--channel=large"]);
    session.start();
    session
}

/// What INFO counts, by the names of events: of a sub-command its own.
fn counted(client: &mut Connection) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for line in client.ask("INFO commandstats").lines() {
        let Some((name, rest)) = line.strip_prefix("cmdstat_").and_then(|line| line.split_once(":calls="))
        else {
            continue;
        };
        let name = name.rsplit('|').next().expect("a name").to_owned();
        *counts.entry(name).or_default() +=
            rest.split(',').next().and_then(|count| count.parse::<u64>().ok()).expect("a count");
    }
    counts
}

/// As many are recorded as INFO counts, but for those inside of transactions and scripts, which the outer one covers.
pub fn as_many_are_recorded_as_the_server_counts(stock: &Stock) {
    const ROUNDS: u64 = 520;
    let daemon = Daemon::start();
    let server = stock.start(&daemon, &[]);
    let mut control = server.connect();
    let session = large_session(&daemon);
    control.ask("CONFIG RESETSTAT");
    std::thread::scope(|scope| {
        for worker in 0..4 {
            let mut client = server.connect();
            scope.spawn(move || {
                for _ in 0..ROUNDS {
                    let mut requests = vec![format!("SET key:{worker} 1"); 15];
                    requests.extend(vec![format!("GET key:{worker}"); 15]);
                    // A transaction, and another that is given up, around what other clients do.
                    requests.extend(["MULTI", "INCR n", "INCR n", "LPUSH l a", "EXEC"].map(str::to_owned));
                    requests.extend(["MULTI", "INCR n", "DISCARD"].map(str::to_owned));
                    // What the server refuses before it is called.
                    requests.extend(["GET", "no-such-command x"].map(str::to_owned));
                    requests.push("CONFIG GET port".to_owned());
                    for part in requests.chunks(7) {
                        part.iter().for_each(|request| client.request(request));
                        part.iter().for_each(|_| _ = client.reply());
                    }
                    let script = "for i = 1, 10 do redis.call('incr', 'm') end";
                    client.ask_words(&["EVAL", script, "0"]);
                }
            });
        }
    });
    let mut expected = counted(&mut control);
    let mut recorded: BTreeMap<String, u64> = BTreeMap::new();
    let trace = session.stop();
    assert_eq!(discarded(&trace), 0);
    for event in trace.events() {
        *recorded.entry(command(&event).0.to_owned()).or_default() += 1;
    }
    assert_eq!(expected.remove("incr"), Some(4 * ROUNDS * (2 + 10)), "the load");
    assert_eq!(expected.remove("lpush"), Some(4 * ROUNDS), "the load");
    assert!(expected.values().sum::<u64>() + 4 * ROUNDS * 13 >= 100_000, "{expected:?}");
    // RESETSTAT is not counted itself, and INFO not before it has ended.
    for name in ["resetstat", "info"] {
        recorded.remove(name);
        expected.remove(name);
    }
    assert_eq!(recorded, expected);
}

/// Events that LTTng had no room for, as Babeltrace says.
fn discarded(trace: &lttng_testing::Trace) -> usize {
    use lttng_testing::CommandInTime as _;
    let mut babeltrace = std::process::Command::new("babeltrace");
    let output =
        babeltrace.args(["-o", "dummy"]).arg(trace.folder()).output_in_time().expect("babeltrace runs");
    String::from_utf8_lossy(&output.stderr).matches("discarded").count()
}

/// Clients are known by their addresses where the server can tell, and not at all otherwise.
pub fn addresses_are_those_of_the_clients(stock: &Stock) {
    let daemon = Daemon::start();
    let server = stock.start(&daemon, &[]);
    let session = daemon.recording(&["valkey_commands:*"]);
    let mut clients: Vec<_> = (0..3).map(|_| server.connect()).collect();
    let expected: Vec<_> = (0..9)
        .map(|index| {
            let client = &mut clients[index % 3];
            assert_eq!(client.ask("PING"), "PONG");
            if stock.knows_clients() { format!("\"{}\"", client.address()) } else { "\"\"".to_owned() }
        })
        .collect();
    let recorded = session.stop().events();
    let recorded: Vec<_> =
        recorded.iter().filter(|event| command(event).0 == "ping").map(|event| event.field("addr")).collect();
    assert_eq!(recorded, expected);
}

/// A client that waits is charged for what it asks for, and not for its wait.
pub fn blocked_client_is_not_charged_while_it_waits(stock: &Stock) {
    let daemon = Daemon::start();
    let server = stock.start(&daemon, &[]);
    let session = daemon.recording(&["valkey_commands:*"]);
    let mut client = server.connect();
    assert_eq!(client.ask("BLPOP nothing 0.5"), "(nil)");
    assert_eq!(client.ask("WAIT 1 500"), "0");
    let recorded = session.stop().events();
    for name in ["blpop", "wait"] {
        let durations: Vec<_> = recorded.iter().map(command).filter(|(found, _)| *found == name).collect();
        assert!(matches!(durations[..], [(_, microseconds)] if microseconds < 400_000), "{durations:?}");
    }
}

/// CLIENT PAUSE puts commands off: they are recorded when the server calls them, each once.
pub fn paused_command_is_recorded_when_it_is_called(stock: &Stock) {
    let daemon = Daemon::start();
    let server = stock.start(&daemon, &[]);
    let session = daemon.recording(&["valkey_commands:*"]);
    let mut pausing = server.connect();
    let mut clients: Vec<_> = (0..6).map(|_| server.connect()).collect();
    assert_eq!(pausing.ask("CLIENT PAUSE 60000 WRITE"), "OK");
    clients.iter_mut().for_each(|client| client.request("SET key value"));
    wait_until("all are put off", || pausing.info("blocked_clients") == "6");
    // One goes away before its command is called.
    drop(clients.pop());
    wait_until("one is gone", || pausing.info("blocked_clients") == "5");
    assert_eq!(pausing.ask("CLIENT UNPAUSE"), "OK");
    clients.iter_mut().for_each(|client| assert_eq!(client.reply(), "OK"));
    assert_eq!(pausing.ask("SET key value"), "OK");
    let recorded = session.stop().events();
    let times = |name: &str| -> Vec<i64> {
        let of_name = recorded.iter().filter(|event| command(event).0 == name);
        of_name.map(|event| event.timestamp).collect()
    };
    let (unpauses, sets) = (times("unpause"), times("set"));
    assert_eq!((unpauses.len(), sets.len()), (1, 6), "{sets:?}");
    assert!(sets.iter().all(|set| *set > unpauses[0]), "{unpauses:?} {sets:?}");
}

#[test]
fn paused_command_of_redis_is_recorded_when_it_is_called() {
    if let Some(stock) = Stock::redis() {
        paused_command_is_recorded_when_it_is_called(&stock);
    }
}

#[test]
fn slow_commands_of_redis_last_as_long_as_its_slow_log_says() {
    if let Some(stock) = Stock::redis() {
        slow_commands_last_as_long_as_the_slow_log_says(&stock);
    }
}

#[test]
fn as_many_commands_are_recorded_as_redis_counts() {
    if let Some(stock) = Stock::redis() {
        as_many_are_recorded_as_the_server_counts(&stock);
    }
}

#[test]
fn clients_of_redis_7_0_have_no_address_and_are_not_charged_while_they_wait() {
    if let Some(stock) = Stock::redis() {
        addresses_are_those_of_the_clients(&stock);
        blocked_client_is_not_charged_while_it_waits(&stock);
    }
}
