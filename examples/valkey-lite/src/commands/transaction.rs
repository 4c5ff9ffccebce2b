//! Transactions: requests executed together.

use crate::client::Transaction;
use crate::command::{Call, Command, FAST, IMMEDIATE, Outcome};
use crate::execute;
use crate::resp::Reply;

pub const COMMANDS: &[Command] =
    &[Command::new("multi", 1, FAST | IMMEDIATE, multi), Command::new("exec", 1, IMMEDIATE, exec)];

fn multi(call: &mut Call) -> Outcome {
    if call.client.transaction.is_some() {
        return Err("ERR MULTI calls can not be nested".into());
    }
    call.client.transaction = Some(Transaction::default());
    call.ok()
}

fn exec(call: &mut Call) -> Outcome {
    let transaction = call.client.transaction.take().ok_or("ERR EXEC without MULTI")?;
    if transaction.refused {
        return Err("EXECABORT Transaction discarded because of previous errors.".into());
    }
    call.client.output.array(transaction.requests.len());
    // A transaction again while it runs: a command that would wait must not.
    call.client.transaction = Some(Transaction::default());
    for (command, request) in transaction.requests {
        execute::call(call.server, call.database, call.client, command, request);
    }
    call.client.transaction = None;
    Ok(())
}
