//! Sorted sets.

use super::collection::{length, remove, slice_of};
use crate::command::{Call, Command, FAST, GROWS, NOT_A_FLOAT, Outcome, SYNTAX, WRITE};
use crate::number::{format_float, parse_float};
use crate::reply::Reply;
use crate::value::SortedSet;

pub const COMMANDS: &[Command] = &[
    Command::new("zadd", -4, WRITE | GROWS | FAST, zadd),
    Command::new("zrem", -3, WRITE | FAST, remove::<SortedSet>),
    Command::new("zscore", 3, FAST, zscore),
    Command::new("zcard", 2, FAST, length::<SortedSet>),
    Command::new("zrange", -4, 0, zrange),
];

/// `ZADD key [NX | XX] [CH] score member …`
fn zadd(call: &mut Call) -> Outcome {
    let (mut only_new, mut only_existing, mut count_changed, mut at) = (false, false, false, 2);
    loop {
        match call.arguments.get(at).map(|word| word.to_ascii_uppercase()).as_deref() {
            Some(b"NX") => only_new = true,
            Some(b"XX") => only_existing = true,
            Some(b"CH") => count_changed = true,
            _ => break,
        }
        at += 1;
    }
    let pairs = call.arguments.get(at..).unwrap_or_default();
    if pairs.is_empty() || !pairs.len().is_multiple_of(2) || (only_new && only_existing) {
        return Err(SYNTAX);
    }
    let scores: Option<Vec<f64>> = pairs.iter().step_by(2).map(|text| parse_float(text)).collect();
    let scores = scores.ok_or(NOT_A_FLOAT)?;
    let key = &call.arguments[1];
    let set = call.database.or_create::<SortedSet>(key)?;
    let (mut added, mut changed) = (0, 0);
    for (member, score) in pairs.iter().skip(1).step_by(2).zip(scores) {
        let exists = set.score(member).is_some();
        if if exists { only_new } else { only_existing } {
            continue;
        }
        changed += u64::from(set.set(member, score) != Some(score));
        added += u64::from(!exists);
    }
    call.database.changed(key, changed);
    call.client.output.integer(if count_changed { changed } else { added } as i64);
    Ok(())
}

fn zscore(call: &mut Call) -> Outcome {
    let set = call.database.existing::<SortedSet>(&call.arguments[1])?;
    let score = set.and_then(|set| set.score(&call.arguments[2]));
    call.client.output.bulk_or_null(score.map(format_float));
    Ok(())
}

/// `ZRANGE key start stop [REV] [WITHSCORES]`, by rank
fn zrange(call: &mut Call) -> Outcome {
    let (start, stop) = (call.integer(2)?, call.integer(3)?);
    let (mut reversed, mut with_scores) = (false, false);
    for word in &call.arguments[4..] {
        match word.to_ascii_uppercase().as_slice() {
            b"REV" => reversed = true,
            b"WITHSCORES" => with_scores = true,
            _ => return Err(SYNTAX),
        }
    }
    let Some(set) = call.database.existing::<SortedSet>(&call.arguments[1])? else {
        call.client.output.array(0);
        return Ok(());
    };
    let range = slice_of(start, stop, set.len());
    call.client.output.array(range.len() * if with_scores { 2 } else { 1 });
    let mut pairs = set.iter();
    let pairs = std::iter::from_fn(|| if reversed { pairs.next_back() } else { pairs.next() });
    for (member, score) in pairs.skip(range.start).take(range.len()) {
        call.client.output.bulk(member);
        if with_scores {
            call.client.output.bulk(format_float(score));
        }
    }
    Ok(())
}
