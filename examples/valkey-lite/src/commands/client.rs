//! CLIENT: the connections.

use crate::client::{Client, Stream};
use crate::command::{Call, Command, Outcome, SYNTAX};
use crate::execute::{Unblock, unblock};
use crate::reply::Reply;

pub const COMMANDS: &[Command] = &[Command::family(
    "client",
    &[
        Command::new("id", 2, 0, id),
        Command::new("list", -2, 0, list),
        Command::new("setname", 3, 0, set_name),
        Command::new("getname", 2, 0, get_name),
        Command::new("setinfo", 4, 0, set_info),
        Command::new("unblock", -3, 0, unblock_client),
    ],
)];

fn id(call: &mut Call) -> Outcome {
    call.client.output.integer(call.client.id as i64);
    Ok(())
}

fn list(call: &mut Call) -> Outcome {
    let mut text = describe(call.client);
    for (_, client) in call.server.clients.iter() {
        text += &describe(client);
    }
    call.client.output.bulk(text);
    Ok(())
}

fn describe(client: &Client) -> String {
    let flags = match client.stream() {
        _ if client.blocked.is_some() => "b",
        _ if client.transaction.is_some() => "x",
        Some(Stream::Unix(_)) => "U",
        _ => "N",
    };
    format!(
        "id={} addr={} laddr={} name={} flags={flags}\n",
        client.id,
        client.addresses.peer,
        client.addresses.local,
        client.name.escape_ascii(),
    )
}

fn set_name(call: &mut Call) -> Outcome {
    call.client.name = call.take(2);
    call.client.output.ok();
    Ok(())
}

fn get_name(call: &mut Call) -> Outcome {
    call.client.output.bulk(&call.client.name);
    Ok(())
}

/// Client libraries announce themselves by this; nothing depends on it.
fn set_info(call: &mut Call) -> Outcome {
    call.client.output.ok();
    Ok(())
}

/// CLIENT UNBLOCK id [TIMEOUT | ERROR]
fn unblock_client(call: &mut Call) -> Outcome {
    let id = call.integer(2)?;
    let how = match call.arguments.get(3).map(|word| word.to_ascii_uppercase()).as_deref() {
        None | Some(b"TIMEOUT") => Unblock::Timeout,
        Some(b"ERROR") => Unblock::Error,
        Some(_) => return Err(SYNTAX),
    };
    let slot = call.server.clients.iter().find(|(_, client)| client.id as i64 == id).map(|(slot, _)| slot);
    let was_blocked = slot.is_some_and(|slot| unblock(call.server, slot, how));
    call.client.output.integer(was_blocked.into());
    Ok(())
}
