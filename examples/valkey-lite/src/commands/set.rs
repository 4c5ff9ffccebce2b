//! Sets.

use super::collection::{length, remove};
use crate::command::{Call, Command, FAST, GROWS, Outcome, WRITE};
use crate::reply::Reply;
use crate::value::Set;

pub const COMMANDS: &[Command] = &[
    Command::new("sadd", -3, WRITE | GROWS | FAST, sadd),
    Command::new("srem", -3, WRITE | FAST, remove::<Set>),
    Command::new("smembers", 2, 0, smembers),
    Command::new("sismember", 3, FAST, sismember),
    Command::new("scard", 2, FAST, length::<Set>),
    Command::new("spop", 2, WRITE | FAST, spop),
];

fn sadd(call: &mut Call) -> Outcome {
    let members = call.arguments.split_off(2);
    let key = &call.arguments[1];
    let set = call.database.or_create::<Set>(key)?;
    let added = members.into_iter().filter_map(|member| set.insert(member).then_some(())).count();
    call.database.changed(key, added as u64);
    call.client.output.integer(added as i64);
    Ok(())
}

fn smembers(call: &mut Call) -> Outcome {
    let set = call.database.existing::<Set>(&call.arguments[1])?.map(|set| &*set);
    call.client.output.array(set.map_or(0, |set| set.len()));
    for member in set.into_iter().flatten() {
        call.client.output.bulk(member);
    }
    Ok(())
}

fn sismember(call: &mut Call) -> Outcome {
    let set = call.database.existing::<Set>(&call.arguments[1])?;
    let is_member = set.is_some_and(|set| set.contains(&call.arguments[2]));
    call.client.output.integer(is_member.into());
    Ok(())
}

/// Journals which member it was: the next time, chance would choose another.
fn spop(call: &mut Call) -> Outcome {
    let key = call.take(1);
    let set = call.database.existing::<Set>(&key)?;
    let member = set.and_then(|set| set.swap_remove_index(fastrand::usize(..set.len())));
    if let Some(member) = &member {
        call.database.changed(&key, 1);
        call.journal_as(&[b"SREM", &key[..], member]);
    }
    call.client.output.bulk_or_null(member);
    Ok(())
}
