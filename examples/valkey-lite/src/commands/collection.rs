//! What lists, hashes, sets and sorted sets have in common.

use std::ops::Range;

use crate::command::{Call, Outcome};
use crate::reply::Reply;
use crate::value::{Kind, Members};

/// LLEN, HLEN, SCARD, ZCARD
pub fn length<K: Kind>(call: &mut Call) -> Outcome {
    let key = &call.arguments[1];
    call.database.existing::<K>(key)?;
    call.client.output.integer(call.database.get(key).map_or(0, |value| value.parts()) as i64);
    Ok(())
}

/// HDEL, SREM, ZREM
pub fn remove<M: Members>(call: &mut Call) -> Outcome {
    let key = &call.arguments[1];
    let removed = match call.database.existing::<M>(key)? {
        Some(collection) => call.arguments[2..].iter().filter(|member| collection.remove(member)).count(),
        None => 0,
    };
    call.database.changed(key, removed as u64);
    call.client.output.integer(removed as i64);
    Ok(())
}

/// The elements that `start` to `stop` stand for among `length`; negative numbers count from the end.
pub fn slice_of(start: i64, stop: i64, length: usize) -> Range<usize> {
    let length = length as i64;
    let absolute = |index: i64| if index < 0 { index.saturating_add(length) } else { index };
    let start = absolute(start).clamp(0, length);
    let end = absolute(stop).saturating_add(1).clamp(start, length);
    start as usize..end as usize
}
