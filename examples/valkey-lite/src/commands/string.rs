//! Strings, and strings as numbers.

use crate::command::{Call, Command, FAST, Failure, GROWS, NOT_AN_INTEGER, Outcome, SYNTAX, WRITE};
use crate::number::parse_integer;
use crate::reply::Reply;
use crate::request::Bytes;
use crate::value::{Kind, Millis, Value};

pub const COMMANDS: &[Command] = &[
    Command::new("get", 2, FAST, get),
    Command::new("set", -3, WRITE | GROWS, set),
    Command::new("setnx", 3, WRITE | GROWS | FAST, setnx),
    Command::new("setex", 4, WRITE | GROWS, setex),
    Command::new("mget", -2, FAST, mget),
    Command::new("mset", -3, WRITE | GROWS, mset),
    Command::new("append", 3, WRITE | GROWS | FAST, append),
    Command::new("incr", 2, WRITE | GROWS | FAST, |call| add(call, 1)),
    Command::new("decr", 2, WRITE | GROWS | FAST, |call| add(call, -1)),
    Command::new("incrby", 3, WRITE | GROWS | FAST, |call| add(call, call.integer(2)?)),
    Command::new("decrby", 3, WRITE | GROWS | FAST, |call| {
        let by = call.integer(2)?.checked_neg().ok_or("ERR decrement would overflow")?;
        add(call, by)
    }),
];

fn get(call: &mut Call) -> Outcome {
    let value = call.database.existing::<Bytes>(&call.arguments[1])?;
    call.client.output.bulk_or_null(value);
    Ok(())
}

/// `SET key value [NX | XX] [GET] [EX seconds | PX milliseconds | EXAT seconds | PXAT milliseconds | KEEPTTL]`
fn set(call: &mut Call) -> Outcome {
    let (mut only_new, mut only_existing, mut wants_former, mut keep, mut expiry) =
        (false, false, false, false, None);
    let mut at = 3;
    while at < call.arguments.len() {
        match call.arguments[at].to_ascii_uppercase().as_slice() {
            b"NX" => only_new = true,
            b"XX" => only_existing = true,
            b"GET" => wants_former = true,
            b"KEEPTTL" => keep = true,
            unit @ (b"EX" | b"PX" | b"EXAT" | b"PXAT") if expiry.is_none() => {
                at += 1;
                expiry = Some(expiry_time(unit, call.integer(at)?, call.database.now, "set")?);
            }
            _ => return Err(SYNTAX),
        }
        at += 1;
    }
    if (only_new && only_existing) || (keep && expiry.is_some()) {
        return Err(SYNTAX);
    }
    let key = call.take(1);
    let exists = call.database.get(&key).is_some();
    let former = match wants_former {
        true => call.database.existing::<Bytes>(&key)?.cloned(),
        false => None,
    };
    let is_wanted = !(only_new && exists || only_existing && !exists);
    if is_wanted {
        let kept = if keep { call.database.expiry(&key).flatten() } else { None };
        let value = call.take(2);
        store(call, key, value, expiry.or(kept));
    }
    match (wants_former, is_wanted) {
        (true, _) => call.client.output.bulk_or_null(former),
        (false, true) => call.client.output.ok(),
        (false, false) => call.client.output.bulk_or_null(None::<Bytes>),
    }
    Ok(())
}

/// Stores a string, and journals it with the moment of its expiry rather than the time until then.
fn store(call: &mut Call, key: Bytes, value: Bytes, expiry: Option<Millis>) {
    if let Some(expiry) = expiry {
        call.journal_as(&[b"SET", &key[..], &value, b"PXAT", expiry.to_string().as_bytes()]);
        call.database.insert(key.clone(), Value::String(value));
        call.database.set_expiry(&key, Some(expiry));
    } else {
        call.database.insert(key, Value::String(value));
    }
}

/// The moment that an expiry option means.
pub fn expiry_time(unit: &[u8], amount: i64, now: Millis, command: &str) -> Result<Millis, Failure> {
    let millis = if unit.starts_with(b"EX") { amount.checked_mul(1000) } else { Some(amount) };
    let base = if unit.ends_with(b"AT") { 0 } else { now as i64 };
    millis
        .filter(|&millis| millis > 0)
        .and_then(|millis| millis.checked_add(base))
        .map(|millis| millis as Millis)
        .ok_or_else(|| format!("ERR invalid expire time in '{command}' command").into())
}

fn setnx(call: &mut Call) -> Outcome {
    let is_new = call.database.get(&call.arguments[1]).is_none();
    if is_new {
        let (key, value) = (call.take(1), call.take(2));
        store(call, key, value, None);
    }
    call.client.output.integer(is_new.into());
    Ok(())
}

fn setex(call: &mut Call) -> Outcome {
    let expiry = expiry_time(b"EX", call.integer(2)?, call.database.now, "setex")?;
    let (key, value) = (call.take(1), call.take(3));
    store(call, key, value, Some(expiry));
    call.client.output.ok();
    Ok(())
}

fn mget(call: &mut Call) -> Outcome {
    call.client.output.array(call.arguments.len() - 1);
    for key in &call.arguments[1..] {
        call.client.output.bulk_or_null(call.database.get(key).and_then(Bytes::of));
    }
    Ok(())
}

fn mset(call: &mut Call) -> Outcome {
    if call.arguments.len().is_multiple_of(2) {
        return Err("ERR wrong number of arguments for 'mset' command".into());
    }
    for at in (1..call.arguments.len()).step_by(2) {
        let (key, value) = (call.take(at), call.take(at + 1));
        store(call, key, value, None);
    }
    call.client.output.ok();
    Ok(())
}

fn append(call: &mut Call) -> Outcome {
    let value = call.database.or_create::<Bytes>(&call.arguments[1])?;
    value.extend_from_slice(&call.arguments[2]);
    call.client.output.integer(value.len() as i64);
    call.database.changed(&call.arguments[1], 1);
    Ok(())
}

fn add(call: &mut Call, by: i64) -> Outcome {
    let key = &call.arguments[1];
    let number = match call.database.existing::<Bytes>(key)? {
        Some(text) => parse_integer(text).ok_or(NOT_AN_INTEGER)?,
        None => 0,
    };
    let sum = number.checked_add(by).ok_or("ERR increment or decrement would overflow")?;
    // Written in place, so that the key keeps its expiry time.
    *call.database.or_create::<Bytes>(key)? = sum.to_string().into();
    call.database.changed(key, 1);
    call.client.output.integer(sum);
    Ok(())
}
