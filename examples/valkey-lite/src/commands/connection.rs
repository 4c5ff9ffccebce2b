//! Greetings, and what the server can do.

use super::all;
use crate::command::{Call, Command, FAST, IMMEDIATE, Outcome};
use crate::reply::Reply;

pub const COMMANDS: &[Command] = &[
    Command::new("ping", -1, FAST, ping),
    Command::new("echo", 2, FAST, echo),
    Command::new("hello", -1, FAST, hello),
    Command::new("select", 2, FAST, select),
    Command::new("quit", -1, FAST | IMMEDIATE, quit),
    Command::new("command", -1, 0, command),
];

fn ping(call: &mut Call) -> Outcome {
    match call.arguments.get(1) {
        Some(message) => call.client.output.bulk(message),
        None => call.client.output.simple("PONG"),
    }
    Ok(())
}

fn echo(call: &mut Call) -> Outcome {
    call.client.output.bulk(&call.arguments[1]);
    Ok(())
}

fn hello(call: &mut Call) -> Outcome {
    if call.arguments.get(1).is_some_and(|version| version != b"2") {
        return Err("NOPROTO unsupported protocol version".into());
    }
    let output = &mut call.client.output;
    output.array(10);
    for (name, value) in
        [("server", "valkey-lite"), ("version", env!("CARGO_PKG_VERSION")), ("mode", "standalone")]
    {
        output.bulk(name);
        output.bulk(value);
    }
    for (name, value) in [("proto", 2), ("id", call.client.id as i64)] {
        output.bulk(name);
        output.integer(value);
    }
    Ok(())
}

fn select(call: &mut Call) -> Outcome {
    if call.integer(1)? != 0 {
        return Err("ERR DB index is out of range".into());
    }
    call.client.output.ok();
    Ok(())
}

fn quit(call: &mut Call) -> Outcome {
    call.client.output.ok();
    call.client.closing = true;
    Ok(())
}

/// COMMAND [COUNT | …]: how many there are; clients that ask for more do without.
fn command(call: &mut Call) -> Outcome {
    match call.is(1, "COUNT") {
        true => call.client.output.integer(all().count() as i64),
        false => call.client.output.array(0),
    }
    Ok(())
}
