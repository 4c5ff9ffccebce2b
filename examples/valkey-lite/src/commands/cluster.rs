//! CLUSTER: the slots of this node.

use crate::child;
use crate::cluster::SLOTS;
use crate::command::{Call, Command, Failure, Outcome};
use crate::reply::Reply;

pub const COMMANDS: &[Command] = &[Command::family(
    "cluster",
    &[
        Command::new("addslots", -3, 0, add_slots),
        Command::new("saveconfig", 2, 0, save),
        Command::new("migrateslots", 6, 0, migrate),
    ],
)];

fn slot(call: &Call, index: usize) -> Result<u16, Failure> {
    let slot = call.integer(index).ok().and_then(|slot| u16::try_from(slot).ok());
    slot.filter(|&slot| slot < SLOTS).ok_or("ERR Invalid or out of range slot".into())
}

/// CLUSTER ADDSLOTS slot …: takes none if one is wrong.
fn add_slots(call: &mut Call) -> Outcome {
    let slots: Vec<u16> = (2..call.arguments.len()).map(|at| slot(call, at)).collect::<Result<_, _>>()?;
    if let Some(busy) = slots.iter().find(|&&slot| call.server.cluster.serves(slot)) {
        return Err(format!("ERR Slot {busy} is already busy").into());
    }
    slots.into_iter().for_each(|slot| call.server.cluster.assign(slot));
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
    child::refuse_second(call.server)?;
    child::start_slot_copy(call.server, call.database, slots, target)?;
    call.client.output.simple("Background slot copy started");
    Ok(())
}
