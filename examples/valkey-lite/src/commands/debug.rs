//! DEBUG: making the server slow, or full, on purpose.

use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::{Duration, Instant};

use crate::command::{Call, Command, GROWS, Outcome, WRITE};
use crate::cron::while_blocked;
use crate::stall::StallPoint;
use crate::value::Value;

pub const COMMANDS: &[Command] = &[Command::family(
    "debug",
    &[
        Command::new("sleep", 3, 0, sleep),
        Command::new("populate", -3, WRITE | GROWS, populate),
        Command::new("set-active-expire", 3, 0, set_active_expire),
        Command::new("stall", -3, 0, stall),
    ],
)];

fn sleep(call: &mut Call) -> Outcome {
    let duration = Duration::try_from_secs_f64(call.seconds(2)?).map_err(|_| "ERR invalid duration")?;
    thread::sleep(duration);
    call.ok()
}

/// `DEBUG POPULATE count [prefix [size]]`: makes keys `prefix:0`, `prefix:1`, … that do not exist yet.
fn populate(call: &mut Call) -> Outcome {
    let count = call.integer(2)?;
    let prefix = call.arguments.get(3).cloned().unwrap_or_else(|| b"key".to_vec());
    let size = if call.arguments.len() > 4 { call.integer(4)?.clamp(0, 1 << 20) as usize } else { 0 };
    let mut last = Instant::now();
    for number in 0..count {
        let key = [prefix.as_slice(), format!(":{number}").as_bytes()].concat();
        if call.database.get(&key).is_none() {
            let mut value = format!("value:{number}").into_bytes();
            value.resize(value.len().max(size), 0);
            call.database.insert(key, Value::String(value), None);
        }
        while_blocked(&mut last, call.server, call.database);
    }
    call.ok()
}

fn set_active_expire(call: &mut Call) -> Outcome {
    call.server.active_expire = call.integer(2)? != 0;
    call.ok()
}

/// `DEBUG STALL point [microseconds]`: makes a point take longer the next time. Replies what is still pending: 0 once the
/// point has been reached.
fn stall(call: &mut Call) -> Outcome {
    let point = StallPoint::named(&call.arguments[2])?;
    if call.arguments.len() > 3 {
        point.microseconds.store(call.integer(3)?.max(0) as u64, Relaxed);
    }
    call.count(point.microseconds.load(Relaxed) as usize)
}
