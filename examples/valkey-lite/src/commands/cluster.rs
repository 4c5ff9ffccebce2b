//! CLUSTER: the slots of this node.

use crate::child;
use crate::cluster::{SLOTS, SlotRange, slot_of};
use crate::command::{Call, Command, Failure, Outcome};
use crate::reply::Reply;

pub const COMMANDS: &[Command] = &[Command::family(
    "cluster",
    &[
        Command::new("info", 2, 0, info),
        Command::new("nodes", 2, 0, nodes),
        Command::new("myid", 2, 0, my_id),
        Command::new("keyslot", 3, 0, key_slot),
        Command::new("addslots", -3, 0, |call| assign(call, 1, true)),
        Command::new("addslotsrange", -4, 0, |call| assign(call, 2, true)),
        Command::new("delslots", -3, 0, |call| assign(call, 1, false)),
        Command::new("saveconfig", 2, 0, save),
        Command::new("migrateslots", 6, 0, migrate),
    ],
)];

fn info(call: &mut Call) -> Outcome {
    let assigned = call.server.cluster.assigned();
    let state = if assigned == usize::from(SLOTS) { "ok" } else { "fail" };
    let copy = if call.server.cluster.last_copy_ok { "ok" } else { "err" };
    call.client.output.bulk(format!(
        "cluster_state:{state}\r\ncluster_slots_assigned:{assigned}\r\ncluster_last_slot_copy_status:{copy}\r\n"
    ));
    Ok(())
}

fn nodes(call: &mut Call) -> Outcome {
    call.client.output.bulk(call.server.cluster.describe());
    Ok(())
}

fn my_id(call: &mut Call) -> Outcome {
    call.client.output.bulk(&call.server.cluster.id);
    Ok(())
}

fn key_slot(call: &mut Call) -> Outcome {
    call.client.output.integer(slot_of(&call.arguments[2]).into());
    Ok(())
}

fn slot(call: &Call, index: usize) -> Result<u16, Failure> {
    let slot = call.integer(index).ok().and_then(|slot| u16::try_from(slot).ok());
    slot.filter(|&slot| slot < SLOTS).ok_or("ERR Invalid or out of range slot".into())
}

/// Slots, or pairs of a first and a last one; none is taken if one is wrong.
fn assign(call: &mut Call, numbers: usize, is_ours: bool) -> Outcome {
    let ranges = (2..call.arguments.len())
        .step_by(numbers)
        .map(|at| Ok(slot(call, at)?..=slot(call, at + numbers - 1)?))
        .collect::<Result<Vec<SlotRange>, Failure>>()?;
    if let Some(busy) =
        ranges.iter().cloned().flatten().find(|&slot| call.server.cluster.serves(slot) == is_ours)
    {
        let state = if is_ours { "already busy" } else { "already unassigned" };
        return Err(format!("ERR Slot {busy} is {state}").into());
    }
    for range in ranges {
        call.server.cluster.assign(range, is_ours);
    }
    save(call)
}

fn save(call: &mut Call) -> Outcome {
    call.server
        .cluster
        .save()
        .map_err(|error| Failure::from(format!("ERR error saving the cluster node config: {error}")))?;
    call.client.output.ok();
    Ok(())
}

/// CLUSTER MIGRATESLOTS first last address port: the copying half of a migration. A forked child sends the keys
/// as they are now; they stay here too.
fn migrate(call: &mut Call) -> Outcome {
    let slots = slot(call, 2)?..=slot(call, 3)?;
    let target = format!("{}:{}", call.arguments[4].escape_ascii(), call.arguments[5].escape_ascii());
    let target = target.parse().map_err(|_| format!("ERR {target} is not an address and a port"))?;
    if call.server.child.is_some() {
        return Err("ERR another child process is running".into());
    }
    child::start_slot_copy(call.server, call.database, slots, target)?;
    call.client.output.simple("Background slot copy started");
    Ok(())
}
