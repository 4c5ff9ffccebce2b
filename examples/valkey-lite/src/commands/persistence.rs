//! Snapshots, rewriting the append-only file, and the end.

use crate::child::{self, Purpose};
use crate::command::{Call, Command, Failure, IMMEDIATE, Outcome, SYNTAX};
use crate::reply::Reply;

pub const COMMANDS: &[Command] = &[
    Command::new("save", 1, 0, save),
    Command::new("bgsave", -1, 0, background_save),
    Command::new("bgrewriteaof", 1, 0, background_rewrite),
    Command::new("shutdown", -1, IMMEDIATE, shutdown),
];

fn save(call: &mut Call) -> Outcome {
    refuse_second_child(call)?;
    child::save(&call.server.config, call.database)?;
    call.client.output.ok();
    Ok(())
}

fn background_save(call: &mut Call) -> Outcome {
    refuse_second_child(call)?;
    child::start_snapshot(call.server, call.database)?;
    call.client.output.simple("Background saving started");
    Ok(())
}

fn background_rewrite(call: &mut Call) -> Outcome {
    if !call.server.config.appendonly {
        return Err("ERR appendonly is off: there is no file to rewrite".into());
    }
    call.server.rewrite_wanted = true;
    call.client.output.simple("Background append only file rewriting scheduled");
    Ok(())
}

fn refuse_second_child(call: &Call) -> Outcome {
    let Some(child) = &call.server.child else { return Ok(()) };
    Err(Failure::from(match child.purpose {
        Purpose::Snapshot => "ERR Background save already in progress",
        Purpose::Rewrite => "ERR Background append only file rewriting already in progress",
        Purpose::SlotCopy => "ERR Background slot copy already in progress",
    }))
}

/// SHUTDOWN [SAVE | NOSAVE]: there is no reply, the connection ends. Without SAVE only the append-only file is kept.
fn shutdown(call: &mut Call) -> Outcome {
    match call.arguments.get(1).map(|word| word.to_ascii_uppercase()).as_deref() {
        Some(b"SAVE") => {
            child::kill(call.server, Purpose::Snapshot);
            child::save(&call.server.config, call.database)?;
        }
        None | Some(b"NOSAVE") => {}
        Some(_) => return Err(SYNTAX),
    }
    call.client.closing = true;
    call.server.stopping = true;
    Ok(())
}
