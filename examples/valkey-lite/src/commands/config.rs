//! CONFIG: parameters of the running server.

use crate::child::{self, Purpose};
use crate::command::{Call, Command, Outcome};
use crate::config::PARAMETERS;
use crate::glob;
use crate::reply::Reply;

pub const COMMANDS: &[Command] =
    &[Command::family("config", &[Command::new("get", -3, 0, get), Command::new("set", -4, 0, set)])];

fn get(call: &mut Call) -> Outcome {
    let patterns: Vec<_> = call.arguments[2..].iter().map(|pattern| pattern.to_ascii_lowercase()).collect();
    let wanted = |name: &str| patterns.iter().any(|pattern| glob::matches(pattern, name.as_bytes()));
    let found: Vec<_> = PARAMETERS.iter().filter(|parameter| wanted(parameter.name)).collect();
    call.client.output.array(found.len() * 2);
    for parameter in found {
        call.client.output.bulk(parameter.name);
        call.client.output.bulk(parameter.get(&call.server.config));
    }
    Ok(())
}

fn set(call: &mut Call) -> Outcome {
    let was_appending = call.server.config.appendonly;
    for pair in call.arguments[2..].chunks(2) {
        let [name, value] = pair else {
            return Err("ERR wrong number of arguments for 'config|set' command".into());
        };
        call.server.config.set(&String::from_utf8_lossy(name), &String::from_utf8_lossy(value))?;
    }
    // Turned on, the cron has a child write the data so far as soon as there is no other child.
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
