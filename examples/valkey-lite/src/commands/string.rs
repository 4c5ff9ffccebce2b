//! Strings, and strings as numbers.

use crate::command::{Call, Command, FAST, GROWS, NOT_AN_INTEGER, Outcome, SYNTAX, WRITE};
use crate::number::parse_integer;
use crate::reply::Reply;
use crate::request::Bytes;
use crate::value::{Millis, Value};

pub const COMMANDS: &[Command] = &[
    Command::new("get", 2, FAST, get),
    Command::new("set", -3, WRITE | GROWS, set),
    Command::new("incr", 2, WRITE | GROWS | FAST, incr),
];

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
                _ => return Err(SYNTAX),
            })
        }
        _ => return Err(SYNTAX),
    };
    let (key, value) = (call.take(1), call.take(2));
    if let Some(expiry) = expiry {
        call.journal_as(&[b"SET", &key[..], &value, b"PXAT", expiry.to_string().as_bytes()]);
    }
    call.database.insert(key, Value::String(value), expiry);
    call.client.output.ok();
    Ok(())
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
