//! Snapshots, rewriting the append-only file, and the end.

use crate::child;
use crate::command::{Call, Command, IMMEDIATE, Outcome};
use crate::reply::Reply;

pub const COMMANDS: &[Command] = &[
    Command::new("bgsave", 1, 0, background_save),
    Command::new("bgrewriteaof", 1, 0, background_rewrite),
    Command::new("shutdown", 1, IMMEDIATE, shutdown),
];

fn background_save(call: &mut Call) -> Outcome {
    child::refuse_second(call.server)?;
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

/// SHUTDOWN: sends no reply and closes the connection. Only the append-only file is kept.
fn shutdown(call: &mut Call) -> Outcome {
    call.client.closing = true;
    call.server.stopping = true;
    Ok(())
}
