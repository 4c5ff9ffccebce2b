//! The commands, and how a request becomes a call of one.

use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::{Duration, Instant};

use crate::child;
use crate::cluster;
use crate::database::{Database, Millis, now};
use crate::resp::{Bytes, Reply, encode, number};
use crate::server::{Client, Server};
use crate::stall::StallPoint;
use crate::system::{Purpose, used_memory};
use crate::trace::{finish_command, start_command};

/// Changes data: is journalled, and refused when memory runs out.
const WRITE: u8 = 1;
/// Takes constant or logarithmic time: traced as `fast_command`.
const FAST: u8 = 2;
/// Runs at once between MULTI and EXEC, rather than being queued.
const IMMEDIATE: u8 = 4;

/// Its name, of one word or two, the least number of its words, flags, and what it does.
struct Command(&'static str, usize, u8, Run);

type Run = fn(&mut Call) -> Result<Reply, String>;

const COMMANDS: &[Command] = &[
    Command("ping", 1, FAST, |_| Ok(Reply::Status("PONG"))),
    Command("get", 2, FAST, get),
    Command("set", 3, WRITE, set),
    Command("incr", 2, WRITE | FAST, incr),
    Command("hget", 3, FAST, get),
    Command("hsetex", 6, WRITE, set_field),
    Command("dbsize", 1, FAST, |call| Ok(Reply::Integer(call.database.len() as i64))),
    Command("flushall", 1, WRITE, flush_all),
    Command("multi", 1, FAST | IMMEDIATE, |call| {
        call.client.transaction = Some(Vec::new());
        Ok(OK)
    }),
    Command("exec", 1, IMMEDIATE, exec),
    Command("wait", 3, 0, wait),
    Command("info", 1, 0, info),
    Command("config set", 4, 0, |call| {
        let set = call.server.config.set(&call.text(2), &call.text(3));
        set.map(|()| OK).ok_or("ERR CONFIG SET failed".into())
    }),
    Command("bgsave", 1, 0, |call| child::start_snapshot(call.server, call.database).map(|()| OK)),
    Command("bgrewriteaof", 1, 0, |call| {
        call.server.rewrite_wanted = call.server.config.appendonly;
        Ok(OK)
    }),
    Command("cluster saveconfig", 2, 0, save_config),
    Command("cluster migrateslots", 4, 0, migrate),
    Command("debug sleep", 3, 0, sleep),
    Command("debug populate", 3, WRITE, populate),
    Command("debug stall", 3, 0, stall),
    Command("shutdown", 1, IMMEDIATE, |call| {
        call.server.is_stopping = true;
        Ok(Reply::Later)
    }),
];

impl Command {
    /// As it is traced: of a sub-command only its own name.
    fn name(&self) -> &'static str {
        self.0.rsplit(' ').next().unwrap_or(self.0)
    }

    fn find(request: &[Bytes]) -> Result<&'static Command, String> {
        let [first, second] =
            [0, 1].map(|at| request.get(at).map(|word| word.to_ascii_lowercase()).unwrap_or_default());
        let is_named = |command: &&Command| {
            let mut words = command.0.as_bytes().split(|&byte| byte == b' ');
            words.next() == Some(&first) && words.next().is_none_or(|word| word == second)
        };
        let found = COMMANDS.iter().find(is_named);
        let found = found.ok_or_else(|| format!("ERR unknown command '{}'", first.escape_ascii()))?;
        match request.len() >= found.1 {
            true => Ok(found),
            false => Err(format!("ERR wrong number of arguments for '{}' command", found.0)),
        }
    }
}

/// One call of a command.
pub struct Call<'a> {
    server: &'a mut Server,
    database: &'a mut Database,
    client: &'a mut Client,
    /// The request, with the command's name: what is journalled after the call.
    arguments: Vec<Bytes>,
}

/// Executes one request, or queues it if the client has said MULTI.
pub fn process(
    server: &mut Server,
    database: &mut Database,
    client: &mut Client,
    request: Vec<Bytes>,
) -> Reply {
    let command = match Command::find(&request) {
        Ok(command) => command,
        Err(message) => return Reply::Error(message),
    };
    let limit = server.config.maxmemory;
    let is_limited = command.2 & WRITE != 0 && limit < u64::MAX;
    let may_grow = !is_limited || used_memory() <= limit || database.make_room(limit);
    match &mut client.transaction {
        _ if !may_grow => return Reply::Error("OOM used memory > 'maxmemory'.".into()),
        Some(transaction) if command.2 & IMMEDIATE == 0 => {
            transaction.push(request);
            return Reply::Status("QUEUED");
        }
        _ => {}
    }
    let mut call = Call { server, database, client, arguments: request };
    let watch = start_command();
    let outcome = (command.3)(&mut call);
    let arguments = call.arguments;
    finish_command(watch, (&client.peer, &client.local), command.name(), command.2 & FAST != 0);
    if command.2 & WRITE != 0 && outcome.is_ok() {
        database.journal.iter_mut().for_each(|journal| journal.extend(encode(&arguments)));
    }
    outcome.unwrap_or_else(Reply::Error)
}

const OK: Reply = Reply::Status("OK");

impl Call<'_> {
    fn number(&self, index: usize) -> Result<u64, String> {
        let number = self.arguments.get(index).and_then(|text| number(text));
        number
            .and_then(|number| number.try_into().ok())
            .ok_or("ERR value is not an integer or out of range".into())
    }

    fn text(&self, index: usize) -> String {
        self.arguments.get(index).map_or(String::new(), |text| String::from_utf8_lossy(text).into_owned())
    }
}

/// GET key, HGET key field
fn get(call: &mut Call) -> Result<Reply, String> {
    let field = call.arguments.get(2).cloned().unwrap_or_default();
    Ok(Reply::Bulk(call.database.get(&(call.arguments[1].clone(), field)).cloned()))
}

/// When what a request sets expires, if it says so: `PX milliseconds` or `PXAT milliseconds`.
fn expiry(call: &Call, at: usize) -> Result<Option<Millis>, String> {
    match call.text(at).to_ascii_uppercase().as_str() {
        "PX" => Ok(Some(call.number(at + 1)?.saturating_add(now()))),
        "PXAT" => Ok(Some(call.number(at + 1)?)),
        _ => Ok(None),
    }
}

/// `SET key value [PX …]`
fn set(call: &mut Call) -> Result<Reply, String> {
    let expiry = expiry(call, 3)?;
    let [key, value] = [1, 2].map(|at| call.arguments[at].clone());
    call.database.insert((key, Bytes::new()), value, expiry);
    Ok(OK)
}

fn incr(call: &mut Call) -> Result<Reply, String> {
    let place = (call.arguments[1].clone(), Bytes::new());
    let number = call.database.get(&place).and_then(|text| number(text)).unwrap_or(0) + 1;
    call.database.insert(place, number.to_string().into(), None);
    Ok(Reply::Integer(number))
}

/// `HSETEX key [PX …] FIELDS 1 field value`
fn set_field(call: &mut Call) -> Result<Reply, String> {
    let expiry = expiry(call, 2)?;
    let [_, key, .., field, value] = &call.arguments[..] else { return Err("ERR syntax error".into()) };
    call.database.insert((key.clone(), field.clone()), value.clone(), expiry);
    Ok(OK)
}

/// FLUSHALL: also ends a snapshot that is being written, which would only hold what has just been deleted.
fn flush_all(call: &mut Call) -> Result<Reply, String> {
    child::check(call.server, &[Purpose::Snapshot]);
    call.database.clear();
    Ok(OK)
}

fn exec(call: &mut Call) -> Result<Reply, String> {
    let requests = call.client.transaction.take().ok_or("ERR EXEC without MULTI")?;
    let run = |request| process(call.server, call.database, call.client, request);
    Ok(Reply::Array(requests.into_iter().map(run).collect()))
}

/// WAIT replicas milliseconds: there are none, so the time always passes.
fn wait(call: &mut Call) -> Result<Reply, String> {
    let deadline = Instant::now() + Duration::from_millis(call.number(2)?.min(1 << 30));
    call.server.waiting.push((deadline, call.client.id));
    call.client.is_blocked = true;
    Ok(Reply::Later)
}

fn info(call: &mut Call) -> Result<Reply, String> {
    let (server, database) = (&*call.server, &*call.database);
    let has_child = |purpose| u64::from(server.child.as_ref().is_some_and(|child| child.purpose == purpose));
    let lines = [
        ("tables_compacted", server.defrag.compacted),
        ("rdb_bgsave_in_progress", has_child(Purpose::Snapshot)),
        ("aof_rewrite_scheduled", server.rewrite_wanted.into()),
        ("aof_rewrite_in_progress", has_child(Purpose::Rewrite)),
        ("aof_pending_bio_fsync", server.append_only.is_syncing().into()),
        ("slot_copy_in_progress", has_child(Purpose::SlotCopy)),
        ("failed_children", server.failed_children),
        ("expired_keys", database.expired),
    ];
    let lines = lines.iter().map(|(name, number)| format!("{name}:{number}\r\n"));
    Ok(Reply::Bulk(Some(lines.collect::<String>().into())))
}

fn save_config(call: &mut Call) -> Result<Reply, String> {
    let saved = cluster::save(&call.server.config.dir);
    saved.map(|()| OK).map_err(|error| format!("ERR error saving the cluster node config: {error}"))
}

/// CLUSTER MIGRATESLOTS address port: the copying half of a migration. A forked child sends the keys as they are now; they
/// stay here too.
fn migrate(call: &mut Call) -> Result<Reply, String> {
    let target = format!("{}:{}", call.text(2), call.text(3));
    let target = target.parse().map_err(|_| format!("ERR {target} is not an address and a port"))?;
    child::start_slot_copy(call.server, call.database, target).map(|()| OK)
}

fn sleep(call: &mut Call) -> Result<Reply, String> {
    let seconds = call.text(2).parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    thread::sleep(seconds.ok_or("ERR invalid duration")?);
    Ok(OK)
}

/// `DEBUG POPULATE count [prefix [size]]`: makes keys `prefix:0`, `prefix:1`, …
fn populate(call: &mut Call) -> Result<Reply, String> {
    let (count, prefix) = (call.number(2)?, call.text(3));
    let size = if call.arguments.len() > 4 { call.number(4)?.min(1 << 20) as usize } else { 0 };
    let mut last = Instant::now();
    for number in 0..count {
        call.database.insert((format!("{prefix}:{number}").into(), Bytes::new()), vec![0; size], None);
        call.server.while_blocked(&mut last, call.database);
    }
    Ok(OK)
}

/// `DEBUG STALL point [microseconds]`: makes a point take longer the next time. Replies what is still pending: 0 once the
/// point has been reached.
fn stall(call: &mut Call) -> Result<Reply, String> {
    let point = StallPoint::named(&call.text(2))?;
    if call.arguments.len() > 3 {
        point.microseconds.store(call.number(3)?, Relaxed);
    }
    Ok(Reply::Integer(point.microseconds.load(Relaxed) as i64))
}
