//! Lists, and waiting for them.

use crate::command::{Call, Command, FAST, GROWS, Outcome, WRITE};
use crate::reply::Reply;
use crate::request::Bytes;
use crate::value::List;

pub const COMMANDS: &[Command] = &[
    Command::new("lpush", -3, WRITE | GROWS | FAST, |call| push(call, List::push_front)),
    Command::new("rpush", -3, WRITE | GROWS | FAST, |call| push(call, List::push_back)),
    Command::new("lpop", 2, WRITE | FAST, pop),
    Command::new("blpop", 3, WRITE, blocking_pop),
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

/// BLPOP key seconds: pops an element, or waits for one.
fn blocking_pop(call: &mut Call) -> Outcome {
    let (key, timeout) = (call.arguments[1].clone(), call.float(2)?);
    if let Some(element) = call.database.existing::<List>(&key)?.and_then(List::pop_front) {
        call.client.output.array(2);
        call.client.output.bulk(&key);
        call.client.output.bulk(element);
        call.database.changed(&key, 1);
        call.journal_as(&[b"LPOP", &key[..]]);
        return Ok(());
    }
    if call.client.transaction.is_some() {
        call.client.output.null_array();
        return Ok(());
    }
    call.block(key, timeout)
}
