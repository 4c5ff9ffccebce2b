//! Keys of any type, strings, strings as numbers, and the greeting.

use crate::child::{self, Purpose};
use crate::command::{Call, Command, FAST, GROWS, NOT_AN_INTEGER, Outcome, SYNTAX, WRITE};
use crate::resp::{Bytes, Reply, parse_integer};
use crate::value::{Millis, Value};

pub const COMMANDS: &[Command] = &[
    Command::new("ping", -1, FAST, ping),
    Command::new("del", -2, WRITE, delete),
    Command::new("keys", 2, 0, keys),
    Command::new("dbsize", 1, FAST, size),
    Command::new("flushall", 1, WRITE, flush_all),
    Command::new("get", 2, FAST, get),
    Command::new("set", -3, WRITE | GROWS, set),
    Command::new("incr", 2, WRITE | GROWS | FAST, incr),
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
    call.count(deleted)
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
    call.count(call.database.len())
}

/// FLUSHALL: also ends a snapshot that is being written, which would only hold what has just been deleted.
fn flush_all(call: &mut Call) -> Outcome {
    child::kill(call.server, &[Purpose::Snapshot]);
    call.database.clear();
    call.ok()
}

fn get(call: &mut Call) -> Outcome {
    let value = call.database.existing::<Bytes>(&call.arguments[1])?;
    call.client.output.bulk_or_null(value);
    Ok(())
}

/// `SET key value [PX milliseconds | PXAT milliseconds]`; journalled with the time of expiry, not the time until then.
fn set(call: &mut Call) -> Outcome {
    let expiry: Option<Millis> = match call.arguments.len() {
        3 => None,
        5 => {
            let millis = call.integer(4)?.max(0) as Millis;
            Some(match call.arguments[3].to_ascii_uppercase().as_slice() {
                b"PX" => millis.saturating_add(call.database.now),
                b"PXAT" => millis,
                _ => return Err(SYNTAX.into()),
            })
        }
        _ => return Err(SYNTAX.into()),
    };
    let (key, value) = (call.take(1), call.take(2));
    if let Some(expiry) = expiry {
        call.journal_as(&[b"SET", &key[..], &value, b"PXAT", expiry.to_string().as_bytes()]);
    }
    call.database.insert(key, Value::String(value), expiry);
    call.ok()
}

fn incr(call: &mut Call) -> Outcome {
    let key = &call.arguments[1];
    let number = match call.database.existing::<Bytes>(key)? {
        Some(text) => parse_integer(text).ok_or(NOT_AN_INTEGER)?,
        None => 0,
    };
    let sum = number.checked_add(1).ok_or("ERR increment or decrement would overflow")?;
    // Written in place, so that the key keeps its expiry time.
    *call.database.or_create::<Bytes>(key)? = sum.to_string().into();
    call.database.changed(key, 1);
    call.client.output.integer(sum);
    Ok(())
}
