//! Sorted sets.

use super::slice_of;
use crate::command::{Call, Command, FAST, GROWS, NOT_A_FLOAT, Outcome, SYNTAX, WRITE};
use crate::number::{format_float, parse_float};
use crate::reply::Reply;
use crate::request::Bytes;
use crate::value::SortedSet;

pub const COMMANDS: &[Command] = &[
    Command::new("zadd", -4, WRITE | GROWS | FAST, zadd),
    Command::new("zincrby", 4, WRITE | GROWS | FAST, zincrby),
    Command::new("zrem", -3, WRITE | FAST, zrem),
    Command::new("zscore", 3, FAST, zscore),
    Command::new("zrank", 3, FAST, zrank),
    Command::new("zcard", 2, FAST, zcard),
    Command::new("zrange", -4, 0, zrange),
    Command::new("zpopmin", -2, WRITE | FAST, zpopmin),
];

/// ZADD key [NX | XX] [CH] score member …
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

fn zincrby(call: &mut Call) -> Outcome {
    let by = call.float(2)?;
    let (key, member) = (&call.arguments[1], &call.arguments[3]);
    let score =
        call.database.existing::<SortedSet>(key)?.and_then(|set| set.score(member)).unwrap_or(0.0) + by;
    if score.is_nan() {
        return Err("ERR resulting score is not a number (NaN)".into());
    }
    call.database.or_create::<SortedSet>(key)?.set(member, score);
    call.database.changed(key, 1);
    call.client.output.bulk(format_float(score));
    Ok(())
}

fn zrem(call: &mut Call) -> Outcome {
    let key = &call.arguments[1];
    let removed = match call.database.existing::<SortedSet>(key)? {
        Some(set) => call.arguments[2..].iter().filter(|member| set.remove(member)).count(),
        None => 0,
    };
    call.database.changed(key, removed as u64);
    call.client.output.integer(removed as i64);
    Ok(())
}

fn zscore(call: &mut Call) -> Outcome {
    let set = call.database.existing::<SortedSet>(&call.arguments[1])?;
    let score = set.and_then(|set| set.score(&call.arguments[2]));
    call.client.output.bulk_or_null(score.map(format_float));
    Ok(())
}

fn zrank(call: &mut Call) -> Outcome {
    let set = call.database.existing::<SortedSet>(&call.arguments[1])?;
    match set.and_then(|set| set.rank(&call.arguments[2])) {
        Some(rank) => call.client.output.integer(rank as i64),
        None => call.client.output.bulk_or_null(None::<Bytes>),
    }
    Ok(())
}

fn zcard(call: &mut Call) -> Outcome {
    let count = call.database.existing::<SortedSet>(&call.arguments[1])?.map_or(0, |set| set.len());
    call.client.output.integer(count as i64);
    Ok(())
}

/// ZRANGE key start stop [REV] [WITHSCORES], by rank
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
    let pairs: Vec<_> = match reversed {
        true => set.iter().rev().skip(range.start).take(range.len()).collect(),
        false => set.iter().skip(range.start).take(range.len()).collect(),
    };
    reply_pairs(&mut call.client.output, &pairs, with_scores);
    Ok(())
}

fn zpopmin(call: &mut Call) -> Outcome {
    let count = if call.arguments.len() > 2 { call.integer(2)?.max(0) as usize } else { 1 };
    let key = &call.arguments[1];
    let Some(set) = call.database.existing::<SortedSet>(key)? else {
        call.client.output.array(0);
        return Ok(());
    };
    let popped: Vec<(Bytes, f64)> =
        set.iter().take(count).map(|(member, score)| (member.clone(), score)).collect();
    popped.iter().for_each(|(member, _)| {
        set.remove(member);
    });
    call.database.changed(key, popped.len() as u64);
    let pairs: Vec<_> = popped.iter().map(|(member, score)| (member, *score)).collect();
    reply_pairs(&mut call.client.output, &pairs, true);
    Ok(())
}

fn reply_pairs(output: &mut Bytes, pairs: &[(&Bytes, f64)], with_scores: bool) {
    output.array(pairs.len() * if with_scores { 2 } else { 1 });
    for (member, score) in pairs {
        output.bulk(member);
        if with_scores {
            output.bulk(format_float(*score));
        }
    }
}
