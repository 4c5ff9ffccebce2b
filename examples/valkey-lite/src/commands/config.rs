//! CONFIG: parameters of the running server.

use crate::child::{self, Purpose};
use crate::command::{Call, Command, Outcome};
use crate::reply::Reply;

pub const COMMANDS: &[Command] =
    &[Command::family("config", &[Command::new("get", 3, 0, get), Command::new("set", -4, 0, set)])];

/// CONFIG GET name: the name and the value, or nothing.
fn get(call: &mut Call) -> Outcome {
    let name = String::from_utf8_lossy(&call.arguments[2]);
    match call.server.config.get(&name) {
        Some(value) => {
            call.client.output.array(2);
            call.client.output.bulk(name.as_bytes());
            call.client.output.bulk(value);
        }
        None => call.client.output.array(0),
    }
    Ok(())
}

/// CONFIG SET name value …
fn set(call: &mut Call) -> Outcome {
    let was_appending = call.server.config.appendonly;
    for pair in call.arguments[2..].chunks(2) {
        let [name, value] = pair else {
            return Err("ERR wrong number of arguments for 'config|set' command".into());
        };
        call.server.config.set(&String::from_utf8_lossy(name), &String::from_utf8_lossy(value))?;
    }
    // When appending is turned on, the cron starts a child that writes the data so far.
    if was_appending && !call.server.config.appendonly {
        stop_appending(call);
    }
    call.client.output.ok();
    Ok(())
}

fn stop_appending(call: &mut Call) {
    child::kill(call.server, Purpose::Rewrite);
    // Nothing more is promised: a failure changes nothing.
    let _ = call.server.append_only.finish(&mut call.database.journal);
    call.server.append_only.close();
    call.database.journal.enable(false);
}
