//! Keys of any type, and the greeting.

use crate::child::{self, Purpose};
use crate::command::{Call, Command, FAST, Outcome, WRITE};
use crate::reply::Reply;
use crate::request::Bytes;

pub const COMMANDS: &[Command] = &[
    Command::new("ping", -1, FAST, ping),
    Command::new("del", -2, WRITE, delete),
    Command::new("keys", 2, 0, keys),
    Command::new("dbsize", 1, FAST, size),
    Command::new("flushall", 1, WRITE, flush_all),
];

/// `PING [message]`
fn ping(call: &mut Call) -> Outcome {
    match call.arguments.get(1) {
        Some(message) => call.client.output.bulk(message),
        None => call.client.output.simple("PONG"),
    }
    Ok(())
}

/// DEL key …: frees the values at once, which takes long for large ones.
fn delete(call: &mut Call) -> Outcome {
    let deleted = call.arguments[1..].iter().filter(|key| call.database.remove(key)).count();
    call.client.output.integer(deleted as i64);
    Ok(())
}

/// KEYS pattern: a key, or the beginning of keys and `*`.
fn keys(call: &mut Call) -> Outcome {
    let pattern = &call.arguments[1];
    let matches = |key: &Bytes| match pattern.strip_suffix(b"*") {
        Some(prefix) => key.starts_with(prefix),
        None => key == pattern,
    };
    let found: Vec<&Bytes> = call.database.keys().filter(|key| matches(key)).collect();
    call.client.output.array(found.len());
    for key in found {
        call.client.output.bulk(key);
    }
    Ok(())
}

fn size(call: &mut Call) -> Outcome {
    call.client.output.integer(call.database.len() as i64);
    Ok(())
}

/// FLUSHALL: also ends a snapshot that is being written, which would only hold what has just been deleted.
fn flush_all(call: &mut Call) -> Outcome {
    child::kill(call.server, Purpose::Snapshot);
    call.database.clear();
    call.client.output.ok();
    Ok(())
}
