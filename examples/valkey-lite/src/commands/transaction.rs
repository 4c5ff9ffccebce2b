//! Transactions: requests executed together, if nothing watched has changed.

use crate::client::Transaction;
use crate::command::{Call, Command, FAST, IMMEDIATE, Outcome};
use crate::execute;
use crate::reply::Reply;

pub const COMMANDS: &[Command] = &[
    Command::new("multi", 1, FAST | IMMEDIATE, multi),
    Command::new("exec", 1, IMMEDIATE, exec),
    Command::new("discard", 1, FAST | IMMEDIATE, discard),
    Command::new("watch", -2, FAST | IMMEDIATE, watch),
    Command::new("unwatch", 1, FAST, unwatch),
];

fn multi(call: &mut Call) -> Outcome {
    if call.client.transaction.is_some() {
        return Err("ERR MULTI calls can not be nested".into());
    }
    call.client.transaction = Some(Transaction::default());
    call.client.output.ok();
    Ok(())
}

fn exec(call: &mut Call) -> Outcome {
    let transaction = call.client.transaction.take().ok_or("ERR EXEC without MULTI")?;
    let watched = std::mem::take(&mut call.client.watched);
    if transaction.refused {
        return Err("EXECABORT Transaction discarded because of previous errors.".into());
    }
    if watched.iter().any(|(key, version)| call.database.version(key) != *version) {
        call.client.output.null_array();
        return Ok(());
    }
    call.client.output.array(transaction.requests.len());
    let journalled = call.database.journal.len();
    // A transaction again while it runs: a command that would wait must not.
    call.client.transaction = Some(Transaction::default());
    for (command, request) in transaction.requests {
        execute::call(call.server, call.database, call.client, command, request);
    }
    call.client.transaction = None;
    call.database.journal.wrap(journalled, &[b"MULTI"], &[b"EXEC"]);
    Ok(())
}

fn discard(call: &mut Call) -> Outcome {
    call.client.transaction.take().ok_or("ERR DISCARD without MULTI")?;
    call.client.watched.clear();
    call.client.output.ok();
    Ok(())
}

fn watch(call: &mut Call) -> Outcome {
    if call.client.transaction.is_some() {
        return Err("ERR WATCH inside MULTI is not allowed".into());
    }
    for key in call.arguments.split_off(1) {
        let version = call.database.version(&key);
        call.client.watched.push((key, version));
    }
    call.client.output.ok();
    Ok(())
}

fn unwatch(call: &mut Call) -> Outcome {
    call.client.watched.clear();
    call.client.output.ok();
    Ok(())
}
