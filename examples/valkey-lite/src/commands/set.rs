//! Sets.

use crate::command::{Call, Command, FAST, GROWS, Outcome, WRITE};
use crate::reply::Reply;
use crate::value::Set;

pub const COMMANDS: &[Command] = &[Command::new("sadd", -3, WRITE | GROWS | FAST, sadd)];

fn sadd(call: &mut Call) -> Outcome {
    let members = call.arguments.split_off(2);
    let key = &call.arguments[1];
    let set = call.database.or_create::<Set>(key)?;
    let added = members.into_iter().filter_map(|member| set.insert(member).then_some(())).count();
    call.database.changed(key, added);
    call.client.output.integer(added as i64);
    Ok(())
}
