//! INFO.

use crate::child::Purpose;
use crate::command::{Call, Command, Outcome};
use crate::reply::Reply;
use crate::system::used_memory;

pub const COMMANDS: &[Command] = &[Command::new("info", -1, 0, info)];

/// INFO [section …]: all there is, whatever the section.
fn info(call: &mut Call) -> Outcome {
    let (server, database) = (&*call.server, &*call.database);
    let has_child = |purpose| u64::from(server.child.as_ref().is_some_and(|child| child.purpose == purpose));
    let numbers = [
        ("connected_clients", server.clients.len() as u64),
        ("blocked_clients", server.waiting.len() as u64),
        ("used_memory", used_memory()),
        ("used_memory_peak", server.peak_memory),
        ("tables_compacted", server.defrag.compacted),
        ("sampled_parts_per_value", database.sampled_parts as u64),
        ("rdb_bgsave_in_progress", has_child(Purpose::Snapshot)),
        ("aof_enabled", server.append_only.is_open().into()),
        ("aof_rewrite_scheduled", server.rewrite_wanted.into()),
        ("aof_rewrite_in_progress", has_child(Purpose::Rewrite)),
        ("aof_pending_bio_fsync", server.append_only.is_syncing().into()),
        ("slot_copy_in_progress", has_child(Purpose::SlotCopy)),
        ("expired_keys", database.expired),
        ("evicted_keys", database.evicted),
    ];
    let outcomes = [
        ("rdb_last_bgsave_status", server.last_snapshot_ok),
        ("aof_last_bgrewrite_status", server.last_rewrite_ok),
        ("last_slot_copy_status", server.cluster.last_copy_ok),
    ];
    let numbers = numbers.iter().map(|(name, number)| format!("{name}:{number}\r\n"));
    let outcomes = outcomes.iter().map(|(name, ok)| format!("{name}:{}\r\n", if *ok { "ok" } else { "err" }));
    call.client.output.bulk(numbers.chain(outcomes).collect::<String>());
    Ok(())
}
