//! INFO.

use crate::child::Purpose;
use crate::command::{Call, Command, Outcome};
use crate::reply::Reply;
use crate::system::used_memory;

pub const COMMANDS: &[Command] = &[Command::new("info", -1, 0, info)];

/// INFO [section …]
fn info(call: &mut Call) -> Outcome {
    let wanted = |name: &str| {
        let mut words = call.arguments[1..].iter();
        call.arguments.len() == 1
            || words.any(|word| {
                [name, "all", "everything", "default"].iter().any(|w| word.eq_ignore_ascii_case(w.as_bytes()))
            })
    };
    let mut text = String::new();
    for (name, lines) in sections(call) {
        if wanted(name) {
            text += &format!("# {name}\r\n");
            for (name, value) in lines {
                text += &format!("{name}:{value}\r\n");
            }
            text += "\r\n";
        }
    }
    call.client.output.bulk(text);
    Ok(())
}

type Lines = Vec<(&'static str, String)>;

fn sections(call: &Call) -> [(&'static str, Lines); 6] {
    let (server, database) = (&*call.server, &*call.database);
    let child_is = |purpose| u8::from(server.child.as_ref().is_some_and(|child| child.purpose == purpose));
    let status = |ok| if ok { "ok" } else { "err" }.to_string();
    let statistics = &server.statistics;
    [
        (
            "Server",
            vec![
                ("redis_version", "7.2.4".into()),
                ("server_name", "valkey-lite".into()),
                ("redis_mode", "standalone".into()),
                ("process_id", std::process::id().to_string()),
                ("tcp_port", server.config.port.to_string()),
                ("uptime_in_seconds", statistics.started.elapsed().as_secs().to_string()),
                ("hz", server.config.hz.to_string()),
            ],
        ),
        (
            "Clients",
            vec![
                ("connected_clients", server.clients.len().to_string()),
                ("blocked_clients", server.waiting.len().to_string()),
            ],
        ),
        (
            "Memory",
            vec![
                ("used_memory", used_memory().to_string()),
                ("used_memory_peak", statistics.peak_memory.to_string()),
                ("maxmemory", server.config.maxmemory.to_string()),
                ("lazyfree_pending_objects", database.lazy_free.pending().to_string()),
                ("tables_compacted", server.defrag.compacted.to_string()),
                ("sampled_parts_per_value", format!("{:.1}", database.sampled_parts)),
            ],
        ),
        (
            "Persistence",
            vec![
                ("loading", "0".into()),
                ("rdb_changes_total", database.changes.to_string()),
                ("rdb_bgsave_in_progress", child_is(Purpose::Snapshot).to_string()),
                ("rdb_last_bgsave_status", status(statistics.last_snapshot_ok)),
                ("aof_enabled", u8::from(server.append_only.is_open()).to_string()),
                ("aof_rewrite_scheduled", u8::from(server.rewrite_wanted).to_string()),
                ("aof_rewrite_in_progress", child_is(Purpose::Rewrite).to_string()),
                ("aof_last_bgrewrite_status", status(statistics.last_rewrite_ok)),
                ("aof_current_size", server.append_only.size.to_string()),
                ("aof_pending_bio_fsync", u8::from(server.append_only.is_syncing()).to_string()),
                ("slot_copy_in_progress", child_is(Purpose::SlotCopy).to_string()),
            ],
        ),
        (
            "Stats",
            vec![
                ("total_connections_received", statistics.connections.to_string()),
                ("total_commands_processed", statistics.commands.to_string()),
                ("expired_keys", database.expired.to_string()),
                ("evicted_keys", database.evicted.to_string()),
            ],
        ),
        (
            "Keyspace",
            match database.len() {
                0 => vec![],
                keys => vec![("db0", format!("keys={keys},expires={},avg_ttl=0", database.expiring().len()))],
            },
        ),
    ]
}
