//! Lists, and waiting for them.

use super::collection::{length, slice_of};
use crate::command::{Call, Command, FAST, GROWS, Outcome, WRITE};
use crate::reply::Reply;
use crate::request::Bytes;
use crate::value::List;

pub const COMMANDS: &[Command] = &[
    Command::new("lpush", -3, WRITE | GROWS | FAST, |call| push(call, List::push_front)),
    Command::new("rpush", -3, WRITE | GROWS | FAST, |call| push(call, List::push_back)),
    Command::new("lpop", -2, WRITE | FAST, |call| pop(call, List::pop_front)),
    Command::new("rpop", -2, WRITE | FAST, |call| pop(call, List::pop_back)),
    Command::new("blpop", -3, WRITE, |call| blocking_pop(call, List::pop_front, "LPOP")),
    Command::new("brpop", -3, WRITE, |call| blocking_pop(call, List::pop_back, "RPOP")),
    Command::new("llen", 2, FAST, length::<List>),
    Command::new("lrange", 4, 0, lrange),
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
    call.database.changed(key, count as u64);
    call.server.waiting.signal(key);
    Ok(())
}

fn pop(call: &mut Call, remove: fn(&mut List) -> Option<Bytes>) -> Outcome {
    let count = match call.arguments.len() {
        2 => None,
        _ => Some(
            usize::try_from(call.integer(2)?).map_err(|_| "ERR value is out of range, must be positive")?,
        ),
    };
    let key = &call.arguments[1];
    let output = &mut call.client.output;
    let Some(list) = call.database.existing::<List>(key)? else {
        if count.is_some() {
            output.null_array()
        } else {
            output.bulk_or_null(None::<Bytes>)
        }
        return Ok(());
    };
    let taken = count.unwrap_or(1).min(list.len());
    if count.is_some() {
        output.array(taken);
    }
    for _ in 0..taken {
        output.bulk_or_null(remove(list));
    }
    call.database.changed(key, taken as u64);
    Ok(())
}

/// Pops from the first list that has an element, or waits for one.
fn blocking_pop(call: &mut Call, remove: fn(&mut List) -> Option<Bytes>, name: &str) -> Outcome {
    let last = call.arguments.len() - 1;
    let timeout = call.float(last)?;
    for index in 1..last {
        let key = &call.arguments[index];
        if let Some(element) = call.database.existing::<List>(key)?.and_then(remove) {
            call.client.output.array(2);
            call.client.output.bulk(key);
            call.client.output.bulk(element);
            call.database.changed(key, 1);
            let request = [name.as_bytes().to_vec(), key.clone()];
            call.journal_as(&request);
            return Ok(());
        }
    }
    if call.client.transaction.is_some() || call.client.stream().is_none() {
        call.client.output.null_array();
        return Ok(());
    }
    call.block(call.arguments[1..last].to_vec(), timeout)
}

fn lrange(call: &mut Call) -> Outcome {
    let (start, stop) = (call.integer(2)?, call.integer(3)?);
    let Some(list) = call.database.existing::<List>(&call.arguments[1])? else {
        call.client.output.array(0);
        return Ok(());
    };
    let range = slice_of(start, stop, list.len());
    call.client.output.array(range.len());
    for element in list.range(range) {
        call.client.output.bulk(element);
    }
    Ok(())
}
