//! Parameters, statistics, persistence, the slots of this node, and the end.

use crate::child::{self, Purpose};
use crate::cluster::SLOTS;
use crate::command::{Call, Command, Failure, IMMEDIATE, Outcome};
use crate::resp::Reply;
use crate::system::used_memory;

pub const COMMANDS: &[Command] = &[
    Command::family(
        "config",
        &[Command::new("get", 3, 0, config_get), Command::new("set", -4, 0, config_set)],
    ),
    Command::family(
        "cluster",
        &[
            Command::new("addslots", -3, 0, add_slots),
            Command::new("saveconfig", 2, 0, save_slots),
            Command::new("migrateslots", 6, 0, migrate),
        ],
    ),
    Command::new("info", -1, 0, info),
    Command::new("bgsave", 1, 0, background_save),
    Command::new("bgrewriteaof", 1, 0, background_rewrite),
    Command::new("shutdown", 1, IMMEDIATE, shutdown),
];

/// CONFIG GET name: the name and the value, or nothing.
fn config_get(call: &mut Call) -> Outcome {
    let name = String::from_utf8_lossy(&call.arguments[2]);
    match call.server.config.get(&name) {
        Some(value) => {
            call.client.output.array(2);
            call.client.output.bulk(name.as_bytes());
            call.client.output.bulk(value);
        }
        None => call.client.output.array(0),
    }
    Ok(())
}

/// CONFIG SET name value …
fn config_set(call: &mut Call) -> Outcome {
    let was_appending = call.server.config.appendonly;
    for pair in call.arguments[2..].chunks(2) {
        let [name, value] = pair else {
            return Err("ERR wrong number of arguments for 'config|set' command".into());
        };
        call.server.config.set(&String::from_utf8_lossy(name), &String::from_utf8_lossy(value))?;
    }
    // When appending is turned on, the cron starts a child that writes the data so far.
    if was_appending && !call.server.config.appendonly {
        stop_appending(call);
    }
    call.ok()
}

fn stop_appending(call: &mut Call) {
    child::kill(call.server, &[Purpose::Rewrite]);
    // Nothing more is promised: a failure changes nothing.
    let _ = call.server.append_only.finish(&mut call.database.journal);
    call.server.append_only.close();
    call.database.journal.enable(false);
}

/// INFO [section …]: all there is, whatever the section.
fn info(call: &mut Call) -> Outcome {
    let (server, database) = (&*call.server, &*call.database);
    let has_child = |purpose| u64::from(server.child.as_ref().is_some_and(|child| child.purpose == purpose));
    let numbers = [
        ("connected_clients", server.clients.len() as u64),
        ("blocked_clients", server.waiting.waiters.len() as u64),
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
    ];
    let outcomes = [
        ("rdb_last_bgsave_status", Purpose::Snapshot),
        ("aof_last_bgrewrite_status", Purpose::Rewrite),
        ("last_slot_copy_status", Purpose::SlotCopy),
    ];
    let numbers = numbers.iter().map(|(name, number)| format!("{name}:{number}\r\n"));
    let outcomes = outcomes.map(|(name, purpose)| {
        format!("{name}:{}\r\n", if server.has_failed[purpose as usize] { "err" } else { "ok" })
    });
    call.client.output.bulk(numbers.chain(outcomes).collect::<String>());
    Ok(())
}

fn background_save(call: &mut Call) -> Outcome {
    child::start_snapshot(call.server, call.database)?;
    call.status("Background saving started")
}

fn background_rewrite(call: &mut Call) -> Outcome {
    if !call.server.config.appendonly {
        return Err("ERR appendonly is off: there is no file to rewrite".into());
    }
    call.server.rewrite_wanted = true;
    call.status("Background append only file rewriting scheduled")
}

/// SHUTDOWN: sends no reply and closes the connection. Only the append-only file is kept.
fn shutdown(call: &mut Call) -> Outcome {
    call.client.closing = true;
    call.server.stopping = true;
    Ok(())
}

fn slot(call: &Call, index: usize) -> Result<u16, Failure> {
    let slot = call.integer(index).ok().and_then(|slot| u16::try_from(slot).ok());
    slot.filter(|&slot| slot < SLOTS).ok_or("ERR Invalid or out of range slot".into())
}

/// CLUSTER ADDSLOTS slot …: takes none if one is wrong.
fn add_slots(call: &mut Call) -> Outcome {
    let slots: Vec<u16> = (2..call.arguments.len()).map(|at| slot(call, at)).collect::<Result<_, _>>()?;
    if let Some(busy) = slots.iter().find(|&slot| call.server.cluster.slots.contains(slot)) {
        return Err(format!("ERR Slot {busy} is already busy").into());
    }
    call.server.cluster.slots.extend(slots);
    save_slots(call)
}

fn save_slots(call: &mut Call) -> Outcome {
    let saved = call.server.cluster.save();
    saved.map_err(|error| format!("ERR error saving the cluster node config: {error}"))?;
    call.ok()
}

/// CLUSTER MIGRATESLOTS first last address port: the copying half of a migration. A forked child sends the keys
/// as they are now; they stay here too.
fn migrate(call: &mut Call) -> Outcome {
    let slots = slot(call, 2)?..=slot(call, 3)?;
    let target = format!("{}:{}", call.arguments[4].escape_ascii(), call.arguments[5].escape_ascii());
    let target = target.parse().map_err(|_| format!("ERR {target} is not an address and a port"))?;
    child::start_slot_copy(call.server, call.database, slots, target)?;
    call.status("Background slot copy started")
}
