//! Forks, turns of the event loop, and what `ltt-top` makes of it all.

use std::process::Command;
use std::time::Instant;

use lttng_testing::{CommandInTime as _, Daemon, Event, Program};
use serde_json::Value;

use crate::support::{Stock, duration, wait_for_children};

/// Forks are recorded by what the child does, within 2 % or 200 µs of what INFO says, and so are the children's ends.
pub fn forks_last_as_long_as_the_server_says(stock: &Stock) {
    let daemon = Daemon::start();
    let server = stock.start(&daemon, &[]);
    let mut client = server.connect();
    client.ask("DEBUG POPULATE 100000");
    let session = daemon.recording(&["valkey_*"]);
    let mut expected = Vec::new();
    for (request, event) in [("BGSAVE", "valkey_rdb:fork"), ("BGREWRITEAOF", "valkey_aof:fork")] {
        for _ in 0..4 {
            client.ask(request);
            wait_for_children(&mut client);
            expected.push((event, client.info("latest_fork_usec").parse::<u64>().expect("a number")));
        }
    }
    let recorded = session.stop().events();
    let forks: Vec<_> = recorded.iter().filter(|event| event.name.ends_with(":fork")).collect();
    assert_eq!(forks.len(), expected.len());
    let mut near = [0, 0];
    for (fork, (event, latest)) in forks.iter().zip(&expected) {
        println!("{}: {} µs, INFO {latest} µs", fork.name, duration(fork));
        assert_eq!(fork.name, *event);
        let is_near = duration(fork).abs_diff(*latest) <= (latest / 50).max(200);
        near[usize::from(*event == "valkey_aof:fork")] += u32::from(is_near);
    }
    assert!(near.iter().all(|near| *near > 0), "another process may delay one fork, but not four");
    for name in ["valkey_module:child_start", "valkey_module:child_end"] {
        assert_eq!(recorded.iter().filter(|event| event.name == name).count(), expected.len(), "{name}");
    }
}

/// Turns of the loop do not overlap.
pub fn turns_add_up_to_no_more_than_the_time_that_passed(stock: &Stock) {
    let daemon = Daemon::start();
    let server = stock.start(&daemon, &[]);
    let mut client = server.connect();
    let session = daemon.recording(&["valkey_server:*"]);
    let start = Instant::now();
    for index in 0..300 {
        client.ask(&format!("SET key:{index} value"));
    }
    client.ask("DEBUG SLEEP 0.1");
    let trace = session.stop();
    let passed = start.elapsed().as_micros() as u64;
    let events = trace.events();
    let of = |name: &str| events.iter().filter(|event| event.name == name).map(duration).collect::<Vec<_>>();
    // Without `command_call`, these say how long commands take.
    assert!(of("valkey_server:command").len() >= 300);
    let turns = of("valkey_server:eventloop");
    assert!(turns.len() > 300, "{} turns", turns.len());
    let sum: u64 = turns.iter().sum();
    assert!((100_000..=passed).contains(&sum), "{sum} µs of {passed} µs");
}

/// What `ltt-top` says of a trace.
pub fn ltt_top(arguments: &[&str], trace: &lttng_testing::Trace) -> Value {
    let mut command = Command::new(Program::binary("ltt-top", "ltt-top").build());
    let said = command.args(arguments).arg("--format=json").arg(trace.folder()).succeed();
    serde_json::from_str(&said).expect("ltt-top writes JSON")
}

/// `ltt-top incidents` names what held the server up.
pub fn each_stall_is_an_incident_with_its_cause(stock: &Stock) {
    let daemon = Daemon::start();
    let server =
        stock.start(&daemon, &["--lazyfree-lazy-user-del", "no", "--lazyfree-lazy-user-flush", "no"]);
    let mut client = server.connect();
    client.ask("DEBUG POPULATE 300000");
    client.ask_words(&["EVAL", "for i = 1, 300000 do redis.call('sadd', 'large', 'member:' .. i) end", "0"]);
    let session = daemon.recording_with(&["valkey_*"], &[], &["vpid", "vtid"]);
    let loops = "local n = 0; for i = 1, 5000000 do n = n + i end; return n";
    for words in [
        &["KEYS", "*"][..],
        &["DEL", "large"],
        &["EVAL", loops, "0"],
        &["DEBUG", "SLEEP", "0.1"],
        &["FLUSHALL"],
    ] {
        let reply = client.ask_words(words);
        assert!(!reply.starts_with('-'), "{words:?}: {reply}");
    }
    let trace = session.stop();
    let is_repeat =
        |event: &Event| event.name.starts_with("valkey_server:") && event.name.ends_with("command");
    assert!(!trace.events().iter().any(is_repeat), "a command is one event");
    let found = ltt_top(&["incidents", "--longer-than=10ms", "--limit=0"], &trace);
    for command in ["incidents", "info", "top", "slow"] {
        assert_eq!(ltt_top(&[command], &trace)["notes"]["left_out"]["derived"], true, "{command}");
    }
    let incidents = found["incidents"].as_array().expect("a list");
    // The cause is the innermost of its chain: FLUSHALL's is the event that says how long emptying took.
    let names = |incident: &Value| -> Vec<String> {
        let chain = incident["chain"].as_array().expect("a list");
        chain.iter().filter_map(|link| Some(link["key"]["name"].as_str()?.to_owned())).collect()
    };
    for name in ["keys", "del", "eval", "debug", "flushall"] {
        let found = incidents.iter().find(|incident| names(incident).iter().any(|found| found == name));
        let incident = found.unwrap_or_else(|| panic!("{name} is in no chain: {incidents:#?}"));
        assert!(incident["advice"].is_string() && incident["cause"].is_object(), "{incident:#?}");
    }
}

#[test]
fn forks_of_redis_last_as_long_as_it_says() {
    if let Some(stock) = Stock::redis() {
        forks_last_as_long_as_the_server_says(&stock);
    }
}

#[test]
fn turns_of_redis_add_up_to_no_more_than_the_time_that_passed() {
    if let Some(stock) = Stock::redis() {
        turns_add_up_to_no_more_than_the_time_that_passed(&stock);
        turns_add_up_to_no_more_than_the_time_that_passed(&Stock::Preloaded);
    }
}

#[test]
fn each_stall_of_redis_is_an_incident_with_its_cause() {
    if let Some(stock) = Stock::redis() {
        each_stall_is_an_incident_with_its_cause(&stock);
    }
}
