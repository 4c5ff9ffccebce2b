//! Keys of any type.

use crate::child::{self, Purpose};
use crate::command::{Call, Command, FAST, Outcome, SYNTAX, WRITE};
use crate::glob;
use crate::reply::Reply;
use crate::request::Bytes;

pub const COMMANDS: &[Command] = &[
    Command::new("del", -2, WRITE, |call| delete(call, false)),
    Command::new("unlink", -2, WRITE | FAST, |call| delete(call, true)),
    Command::new("exists", -2, FAST, exists),
    Command::new("type", 2, FAST, type_of),
    Command::new("keys", 2, 0, keys),
    Command::new("scan", -2, 0, scan),
    Command::new("dbsize", 1, FAST, size),
    Command::new("flushall", -1, WRITE, flush_all),
    Command::new("flushdb", -1, WRITE, flush_all),
];

/// DEL frees at once, which takes its time for a large value; UNLINK leaves that to the second thread.
fn delete(call: &mut Call, lazily: bool) -> Outcome {
    let mut deleted = 0;
    for key in &call.arguments[1..] {
        if let Some(value) = call.database.remove(key) {
            deleted += 1;
            if lazily {
                call.database.free_lazily(value);
            }
        }
    }
    call.client.output.integer(deleted);
    Ok(())
}

fn exists(call: &mut Call) -> Outcome {
    let count = call.arguments[1..].iter().filter(|key| call.database.get(key).is_some()).count();
    call.client.output.integer(count as i64);
    Ok(())
}

fn type_of(call: &mut Call) -> Outcome {
    let name = call.database.get(&call.arguments[1]).map_or("none", |value| value.type_name());
    call.client.output.simple(name);
    Ok(())
}

fn keys(call: &mut Call) -> Outcome {
    let pattern = &call.arguments[1];
    let found: Vec<&Bytes> = call.database.keys().filter(|key| glob::matches(pattern, key)).collect();
    call.client.output.array(found.len());
    for key in found {
        call.client.output.bulk(key);
    }
    Ok(())
}

/// SCAN cursor [MATCH pattern] [COUNT count] [TYPE name]. The cursor is the index of the last key not yet seen,
/// plus one: walking downwards misses no key that stays, whatever is deleted meanwhile.
fn scan(call: &mut Call) -> Outcome {
    let cursor = call.integer(1).map_err(|_| "ERR invalid cursor")?;
    let (mut pattern, mut count, mut type_name) = (&b"*"[..], 10, None);
    for option in call.arguments[2..].chunks(2) {
        let [name, value] = option else { return Err(SYNTAX) };
        match name.to_ascii_uppercase().as_slice() {
            b"MATCH" => pattern = value,
            b"TYPE" => type_name = Some(value),
            b"COUNT" => {
                count = crate::number::parse_integer(value).filter(|&count| count > 0).ok_or(SYNTAX)?
            }
            _ => return Err(SYNTAX),
        }
    }
    let end = match usize::try_from(cursor).map_err(|_| "ERR invalid cursor")? {
        0 => call.database.len(),
        cursor => cursor.min(call.database.len()),
    };
    let start = end.saturating_sub(count as usize);
    let candidates: Vec<Bytes> =
        (start..end).filter_map(|index| call.database.key_at(index).cloned()).collect();
    let mut found = Vec::new();
    for key in candidates.into_iter().filter(|key| glob::matches(pattern, key)) {
        let Some(value) = call.database.get(&key) else { continue };
        if type_name.is_none_or(|name| name.eq_ignore_ascii_case(value.type_name().as_bytes())) {
            found.push(key);
        }
    }
    call.client.output.array(2);
    call.client.output.bulk(start.to_string());
    call.client.output.array(found.len());
    for key in found {
        call.client.output.bulk(key);
    }
    Ok(())
}

fn size(call: &mut Call) -> Outcome {
    call.client.output.integer(call.database.len() as i64);
    Ok(())
}

/// FLUSHALL [ASYNC | SYNC]. A snapshot under way would only write what has just been thrown away.
fn flush_all(call: &mut Call) -> Outcome {
    let lazily = call.is(1, "ASYNC");
    if call.arguments.len() > 1 && !lazily && !call.is(1, "SYNC") {
        return Err(SYNTAX);
    }
    child::kill(call.server, Purpose::Snapshot);
    call.database.clear(lazily);
    call.client.output.ok();
    Ok(())
}
