//! Hashes, and the expiry of their fields.

use crate::command::{Call, Command, FAST, GROWS, Outcome, SYNTAX, WRITE};
use crate::dump::expire_fields;
use crate::reply::Reply;
use crate::value::{Hash, Millis};

pub const COMMANDS: &[Command] = &[
    Command::new("hset", -4, WRITE | GROWS | FAST, hset),
    Command::new("hlen", 2, FAST, hlen),
    Command::new("hpexpire", -6, WRITE | FAST, |call| expire(call, call.database.now)),
    // What HPEXPIRE is journalled as.
    Command::new("hpexpireat", -6, WRITE | FAST, |call| expire(call, 0)),
];

/// HSET key field value …: replies the number of new fields.
fn hset(call: &mut Call) -> Outcome {
    let pairs = call.arguments.split_off(2);
    if !pairs.len().is_multiple_of(2) {
        return Err("ERR wrong number of arguments for 'hset' command".into());
    }
    let key = &call.arguments[1];
    let hash = call.database.or_create::<Hash>(key)?;
    let count = pairs.len() / 2;
    let mut pairs = pairs.into_iter();
    let mut added = 0;
    while let (Some(field), Some(value)) = (pairs.next(), pairs.next()) {
        added += i64::from(hash.set(field, value));
    }
    call.database.changed(key, count);
    call.client.output.integer(added);
    Ok(())
}

fn hlen(call: &mut Call) -> Outcome {
    let hash = call.database.existing::<Hash>(&call.arguments[1])?;
    call.client.output.integer(hash.map_or(0, |hash| hash.len()) as i64);
    Ok(())
}

/// HPEXPIRE key milliseconds FIELDS count field …: replies -2 for each field that does not exist, and otherwise 1.
fn expire(call: &mut Call, base: Millis) -> Outcome {
    let expiry = u64::try_from(call.integer(2)?).map_err(|_| "ERR invalid expire time")?.saturating_add(base);
    let is_counted = call.arguments[3].eq_ignore_ascii_case(b"FIELDS")
        && usize::try_from(call.integer(4)?) == Ok(call.arguments.len() - 5);
    if !is_counted {
        return Err(SYNTAX);
    }
    let fields = call.arguments.split_off(5);
    let key = call.take(1);
    let mut hash = call.database.existing::<Hash>(&key)?;
    let set: Vec<bool> = fields
        .iter()
        .map(|field| hash.as_deref_mut().is_some_and(|hash| hash.set_expiry(field, expiry)))
        .collect();
    call.client.output.array(fields.len());
    set.iter().for_each(|&exists| call.client.output.integer(if exists { 1 } else { -2 }));
    if set.contains(&true) {
        call.database.changed(&key, fields.len());
        call.database.watch_fields(&key);
        call.journal_as(&expire_fields(&key, expiry, &fields));
    }
    Ok(())
}
