//! Expiry of keys.

use crate::command::{Call, Command, FAST, Failure, Outcome, SYNTAX, WRITE};
use crate::reply::Reply;
use crate::value::Millis;

pub const COMMANDS: &[Command] = &[
    Command::new("expire", -3, WRITE | FAST, |call| expire(call, Deadline::Seconds)),
    Command::new("pexpire", -3, WRITE | FAST, |call| expire(call, Deadline::Milliseconds)),
    Command::new("expireat", -3, WRITE | FAST, |call| expire(call, Deadline::SecondsAbsolute)),
    Command::new("pexpireat", -3, WRITE | FAST, |call| expire(call, Deadline::MillisecondsAbsolute)),
    Command::new("ttl", 2, FAST, |call| time_to_live(call, 1000)),
    Command::new("pttl", 2, FAST, |call| time_to_live(call, 1)),
    Command::new("persist", 2, WRITE | FAST, persist),
];

/// How a command gives a moment.
#[derive(Clone, Copy)]
pub enum Deadline {
    Seconds,
    Milliseconds,
    SecondsAbsolute,
    MillisecondsAbsolute,
}

impl Deadline {
    /// The moment; one that has passed is allowed.
    pub fn moment(self, amount: i64, now: Millis) -> Result<Millis, Failure> {
        let unit = if matches!(self, Self::Seconds | Self::SecondsAbsolute) { 1000 } else { 1 };
        let base = if matches!(self, Self::Seconds | Self::Milliseconds) { now as i64 } else { 0 };
        let moment = amount.checked_mul(unit).and_then(|millis| millis.checked_add(base));
        moment.map(|moment| moment.max(1) as Millis).ok_or("ERR invalid expire time".into())
    }
}

/// EXPIRE key seconds [NX | XX | GT | LT]
fn expire(call: &mut Call, deadline: Deadline) -> Outcome {
    let expiry = deadline.moment(call.integer(2)?, call.database.now)?;
    let Some(former) = call.database.expiry(&call.arguments[1]) else {
        call.client.output.integer(0);
        return Ok(());
    };
    let is_wanted = match call.arguments.get(3).map(|word| word.to_ascii_uppercase()).as_deref() {
        None => true,
        Some(b"NX") => former.is_none(),
        Some(b"XX") => former.is_some(),
        Some(b"GT") => former.is_some_and(|former| expiry > former),
        Some(b"LT") => former.is_none_or(|former| expiry < former),
        Some(_) => return Err(SYNTAX),
    };
    if is_wanted {
        let key = call.take(1);
        call.journal_as(&[b"PEXPIREAT", &key[..], expiry.to_string().as_bytes()]);
        call.database.set_expiry(&key, Some(expiry));
    }
    call.client.output.integer(is_wanted.into());
    Ok(())
}

fn persist(call: &mut Call) -> Outcome {
    let had_expiry = call.database.expiry(&call.arguments[1]).flatten().is_some();
    if had_expiry {
        call.database.set_expiry(&call.arguments[1], None);
    }
    call.client.output.integer(had_expiry.into());
    Ok(())
}

fn time_to_live(call: &mut Call, unit: Millis) -> Outcome {
    let expiry = call.database.expiry(&call.arguments[1]);
    call.client.output.integer(remaining(expiry, call.database.now, unit));
    Ok(())
}

/// The time left: -2 of what does not exist, -1 of what does not expire.
pub fn remaining(expiry: Option<Option<Millis>>, now: Millis, unit: Millis) -> i64 {
    match expiry {
        None => -2,
        Some(None) => -1,
        Some(Some(moment)) => ((moment.saturating_sub(now) + unit / 2) / unit) as i64,
    }
}
