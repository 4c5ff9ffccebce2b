//! Lists, waiting for them, sets, hashes, and the expiry of their fields.

use std::time::{Duration, Instant};

use crate::command::{Call, Command, FAST, GROWS, Outcome, SYNTAX, WRITE};
use crate::dump::expire_fields;
use crate::execute::Waiter;
use crate::resp::{Bytes, Reply};
use crate::value::{Hash, HashField, List, Millis, Set};

pub const COMMANDS: &[Command] = &[
    Command::new("lpush", -3, WRITE | GROWS | FAST, |call| push(call, List::push_front)),
    Command::new("rpush", -3, WRITE | GROWS | FAST, |call| push(call, List::push_back)),
    Command::new("lpop", 2, WRITE | FAST, pop),
    Command::new("blpop", 3, WRITE, blocking_pop),
    Command::new("sadd", -3, WRITE | GROWS | FAST, sadd),
    Command::new("hset", -4, WRITE | GROWS | FAST, hset),
    Command::new("hlen", 2, FAST, hlen),
    Command::new("hpexpire", -6, WRITE | FAST, |call| expire(call, call.database.now)),
    // What HPEXPIRE is journalled as.
    Command::new("hpexpireat", -6, WRITE | FAST, |call| expire(call, 0)),
];

fn push(call: &mut Call, add: fn(&mut List, Bytes)) -> Outcome {
    let elements = call.arguments.split_off(2);
    let key = &call.arguments[1];
    let list = call.database.or_create::<List>(key)?;
    let count = elements.len();
    for element in elements {
        add(list, element);
    }
    call.client.output.integer(list.len() as i64);
    call.database.changed(key, count);
    call.server.waiting.signal(key);
    Ok(())
}

fn pop(call: &mut Call) -> Outcome {
    let key = &call.arguments[1];
    let element = call.database.existing::<List>(key)?.and_then(List::pop_front);
    call.database.changed(key, usize::from(element.is_some()));
    call.client.output.bulk_or_null(element);
    Ok(())
}

/// BLPOP key seconds: pops an element, or waits for one and is then called again.
fn blocking_pop(call: &mut Call) -> Outcome {
    let (key, seconds) = (call.arguments[1].clone(), call.seconds(2)?);
    let timeout = Duration::try_from_secs_f64(seconds).map_err(|_| "ERR timeout is negative")?;
    if let Some(element) = call.database.existing::<List>(&key)?.and_then(List::pop_front) {
        call.client.output.array(2);
        call.client.output.bulk(&key);
        call.client.output.bulk(element);
        call.database.changed(&key, 1);
        call.journal_as(&[b"LPOP", &key[..]]);
    } else if call.client.transaction.is_some() || !call.client.is_connected() {
        call.client.output.null_array();
    } else {
        let deadline = (!timeout.is_zero()).then(|| Instant::now().checked_add(timeout)).flatten();
        let (slot, request) = (call.client.slot, std::mem::take(&mut call.arguments));
        let waiter = Waiter { slot, command: call.command, request, key, deadline };
        call.server.waiting.waiters.push(waiter);
        call.client.is_blocked = true;
    }
    Ok(())
}

fn sadd(call: &mut Call) -> Outcome {
    let members = call.arguments.split_off(2);
    let key = &call.arguments[1];
    let set = call.database.or_create::<Set>(key)?;
    let added = members.into_iter().filter_map(|member| set.insert(member).then_some(())).count();
    call.database.changed(key, added);
    call.count(added)
}

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
        added += usize::from(hash.insert(field, HashField { value, expiry: None }).is_none());
    }
    call.database.changed(key, count);
    call.count(added)
}

fn hlen(call: &mut Call) -> Outcome {
    let length = call.database.existing::<Hash>(&call.arguments[1])?.map_or(0, |hash| hash.len());
    call.count(length)
}

/// HPEXPIRE key milliseconds FIELDS count field …: replies -2 for each field that does not exist, and otherwise 1.
fn expire(call: &mut Call, base: Millis) -> Outcome {
    let expiry = u64::try_from(call.integer(2)?).map_err(|_| "ERR invalid expire time")?.saturating_add(base);
    let is_counted = call.arguments[3].eq_ignore_ascii_case(b"FIELDS")
        && usize::try_from(call.integer(4)?) == Ok(call.arguments.len() - 5);
    if !is_counted {
        return Err(SYNTAX.into());
    }
    let fields = call.arguments.split_off(5);
    let key = call.take(1);
    let mut hash = call.database.existing::<Hash>(&key)?;
    let mut expire = |name: &Bytes| {
        let field = hash.as_deref_mut().and_then(|hash| hash.get_mut(name));
        field.map(|field| field.expiry = Some(expiry)).is_some()
    };
    let set: Vec<bool> = fields.iter().map(&mut expire).collect();
    call.client.output.array(fields.len());
    set.iter().for_each(|&exists| call.client.output.integer(if exists { 1 } else { -2 }));
    if set.contains(&true) {
        call.database.changed(&key, fields.len());
        call.database.expiring_fields.insert(key.clone());
        call.journal_as(&expire_fields(&key, expiry, &fields));
    }
    Ok(())
}
