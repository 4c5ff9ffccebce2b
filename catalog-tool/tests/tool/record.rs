//! The catalogs of memcached and Redis build, and every event of theirs is recorded.

use std::collections::BTreeSet;

use lttng_testing::{Daemon, Program};

#[test]
fn every_event_of_memcached_and_redis_is_recorded_as_it_was_emitted() {
    let program = Program::binary("caches", "caches").traced().build();
    let daemon = Daemon::start();
    let session = daemon.recording(&["memcached:*", "redis:*"]);
    let emitted = daemon.run(program, [""; 0]);
    let recorded = session.stop().events();

    let emitted: Vec<Vec<&str>> = emitted.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(recorded.len(), emitted.len());
    for (event, emitted) in recorded.iter().zip(&emitted) {
        assert_eq!(event.name, emitted[0]);
        for field in &emitted[1..] {
            let (name, value) = field.split_once('=').expect("a name and a value");
            assert_eq!(event.field(name), value, "{} of {}", name, event.name);
        }
        let lengths = event.fields.iter().filter(|(name, _)| name.starts_with('_')).count();
        assert_eq!(event.fields.len() - lengths, emitted.len() - 1, "{}", event.name);
    }

    let catalogs = [lttng_catalog::memcached(), lttng_catalog::redis()];
    let known: BTreeSet<String> = catalogs
        .iter()
        .flat_map(|catalog| catalog.events())
        .map(|(provider, event)| format!("{}:{}", provider.name, event.name))
        .collect();
    let recorded: BTreeSet<String> = recorded.into_iter().map(|event| event.name).collect();
    assert_eq!(recorded, known, "all of them, and no other");
}
