//! Hashes, and the expiry of their fields.

use super::collection::{length, remove};
use super::expiry::{Deadline, remaining};
use crate::command::{Call, Command, FAST, Failure, GROWS, Outcome, SYNTAX, WRITE};
use crate::dump::expire_fields;
use crate::reply::Reply;
use crate::request::Bytes;
use crate::value::{Hash, Millis};

pub const COMMANDS: &[Command] = &[
    Command::new("hset", -4, WRITE | GROWS | FAST, |call| {
        let added = set_fields(call)?;
        call.client.output.integer(added);
        Ok(())
    }),
    Command::new("hmset", -4, WRITE | GROWS | FAST, |call| {
        set_fields(call)?;
        call.client.output.ok();
        Ok(())
    }),
    Command::new("hget", 3, FAST, hget),
    Command::new("hmget", -3, FAST, hmget),
    Command::new("hgetall", 2, 0, hgetall),
    Command::new("hdel", -3, WRITE | FAST, remove::<Hash>),
    Command::new("hlen", 2, FAST, length::<Hash>),
    Command::new("hexpire", -6, WRITE | FAST, |call| expire(call, Deadline::Seconds)),
    Command::new("hpexpire", -6, WRITE | FAST, |call| expire(call, Deadline::Milliseconds)),
    Command::new("hpexpireat", -6, WRITE | FAST, |call| expire(call, Deadline::MillisecondsAbsolute)),
    Command::new("httl", -5, FAST, |call| time_to_live(call, 1000)),
    Command::new("hpttl", -5, FAST, |call| time_to_live(call, 1)),
    Command::new("hpersist", -5, WRITE | FAST, persist),
];

/// Sets the fields of HSET and HMSET. Returns how many of them are new.
fn set_fields(call: &mut Call) -> Result<i64, Failure> {
    let pairs = call.arguments.split_off(2);
    if !pairs.len().is_multiple_of(2) {
        return Err(format!("ERR wrong number of arguments for '{}' command", call.command.name).into());
    }
    let key = &call.arguments[1];
    let hash = call.database.or_create::<Hash>(key)?;
    let count = pairs.len() / 2;
    let mut pairs = pairs.into_iter();
    let mut added = 0;
    while let (Some(field), Some(value)) = (pairs.next(), pairs.next()) {
        added += i64::from(hash.set(field, value));
    }
    call.database.changed(key, count as u64);
    Ok(added)
}

fn hget(call: &mut Call) -> Outcome {
    let hash = call.database.existing::<Hash>(&call.arguments[1])?;
    call.client.output.bulk_or_null(hash.and_then(|hash| hash.get(&call.arguments[2])));
    Ok(())
}

fn hmget(call: &mut Call) -> Outcome {
    let hash = call.database.existing::<Hash>(&call.arguments[1])?.map(|hash| &*hash);
    call.client.output.array(call.arguments.len() - 2);
    for field in &call.arguments[2..] {
        call.client.output.bulk_or_null(hash.and_then(|hash| hash.get(field)));
    }
    Ok(())
}

fn hgetall(call: &mut Call) -> Outcome {
    let hash = call.database.existing::<Hash>(&call.arguments[1])?.map(|hash| &*hash);
    call.client.output.array(hash.map_or(0, Hash::len) * 2);
    for (field, value, _) in hash.into_iter().flat_map(Hash::iter) {
        call.client.output.bulk(field);
        call.client.output.bulk(value);
    }
    Ok(())
}

/// The fields of `… FIELDS count field …`, of which `FIELDS` is at `at`.
fn named_fields(call: &Call, at: usize) -> Result<Vec<Bytes>, Failure> {
    let fields = call.arguments.get(at + 2..).unwrap_or_default();
    if !call.is(at, "FIELDS") {
        return Err(SYNTAX);
    }
    if usize::try_from(call.integer(at + 1)?) != Ok(fields.len()) || fields.is_empty() {
        return Err("ERR The `numfields` parameter must match the number of arguments".into());
    }
    Ok(fields.to_vec())
}

/// HEXPIRE key seconds FIELDS count field …: for each field -2 if there is none, 2 if it is gone by that, or 1.
fn expire(call: &mut Call, deadline: Deadline) -> Outcome {
    let expiry = deadline.moment(call.integer(2)?, call.database.now)?;
    let fields = named_fields(call, 3)?;
    let (now, key) = (call.database.now, call.take(1));
    let changed = set_expiry(call, &key, &fields, |hash, field| {
        if hash.expiry(field).is_none() {
            return -2;
        }
        hash.set_expiry(field, Some(expiry));
        if expiry <= now { 2 } else { 1 }
    })?;
    if changed {
        call.journal_as(&expire_fields(&key, expiry, &fields));
        call.database.watch_fields(&key);
        // Fields that are to expire at once are gone when the reply is sent.
        call.database.drop_expired(&key);
    }
    Ok(())
}

/// HPERSIST key FIELDS count field …: for each field -2 if there is none, -1 if it would not expire, or 1.
fn persist(call: &mut Call) -> Outcome {
    let fields = named_fields(call, 2)?;
    let key = call.take(1);
    set_expiry(call, &key, &fields, |hash, field| match hash.expiry(field) {
        None => -2,
        Some(None) => -1,
        Some(Some(_)) => {
            hash.set_expiry(field, None);
            1
        }
    })?;
    Ok(())
}

/// Applies `set` to each field and replies with what it returns: a positive number for a change. Returns whether
/// there was one.
fn set_expiry(
    call: &mut Call,
    key: &[u8],
    fields: &[Bytes],
    set: impl Fn(&mut Hash, &[u8]) -> i64,
) -> Result<bool, Failure> {
    let mut hash = call.database.existing::<Hash>(key)?;
    let mut changes = 0;
    call.client.output.array(fields.len());
    for field in fields {
        let code = hash.as_deref_mut().map_or(-2, |hash| set(hash, field));
        changes += u64::from(code > 0);
        call.client.output.integer(code);
    }
    call.database.changed(key, changes);
    Ok(changes > 0)
}

fn time_to_live(call: &mut Call, unit: Millis) -> Outcome {
    let fields = named_fields(call, 2)?;
    let now = call.database.now;
    let hash = call.database.existing::<Hash>(&call.arguments[1])?.map(|hash| &*hash);
    call.client.output.array(fields.len());
    for field in fields {
        call.client.output.integer(remaining(hash.and_then(|hash| hash.expiry(&field)), now, unit));
    }
    Ok(())
}
