//! The data as the requests that make it: the form of snapshots, rewritten append-only files and copied slots, and
//! how it is loaded when the server starts.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::Instant;

use crate::child::SNAPSHOT;
use crate::client::Client;
use crate::cron::while_blocked;
use crate::database::Database;
use crate::execute::process;
use crate::resp::{Bytes, encode};
use crate::server::Server;
use crate::value::{Millis, Value};

/// The most elements in one request.
const BATCH: usize = 64;

/// Writes the keys that `wanted` accepts.
pub fn write(database: &Database, out: &mut impl Write, wanted: impl Fn(&[u8]) -> bool) -> io::Result<()> {
    let mut buffer = Bytes::new();
    for (key, value, expiry) in database.iter().filter(|(key, _, _)| wanted(key)) {
        encode_value(&mut buffer, key, value, expiry);
        out.write_all(&buffer)?;
        buffer.clear();
    }
    Ok(())
}

fn encode_value(out: &mut Bytes, key: &[u8], value: &Value, expiry: Option<Millis>) {
    match (value, expiry) {
        (Value::String(bytes), None) => encode(out, &[b"SET", key, bytes]),
        // No other type can be given an expiry time.
        (Value::String(bytes), Some(expiry)) => {
            encode(out, &[b"SET", key, bytes, b"PXAT", expiry.to_string().as_bytes()]);
        }
        (Value::List(list), _) => in_batches(out, "RPUSH", key, list.iter().map(|element| [element])),
        (Value::Set(set), _) => in_batches(out, "SADD", key, set.iter().map(|member| [member])),
        (Value::Hash(hash), _) => {
            in_batches(out, "HSET", key, hash.iter().map(|(name, field)| [name, &field.value]));
            for (name, field) in hash {
                field.expiry.iter().for_each(|&expiry| encode(out, &expire_fields(key, expiry, &[name])));
            }
        }
    }
}

/// The request that sets the expiry time of fields.
pub fn expire_fields(key: &[u8], expiry: Millis, fields: &[impl AsRef<[u8]>]) -> Vec<Bytes> {
    let [expiry, count] = [expiry.to_string(), fields.len().to_string()].map(Bytes::from);
    let start = [b"HPEXPIREAT".into(), key.into(), expiry, b"FIELDS".into(), count];
    start.into_iter().chain(fields.iter().map(|field| field.as_ref().to_vec())).collect()
}

fn in_batches<'v, const N: usize>(
    out: &mut Bytes,
    command: &'v str,
    key: &'v [u8],
    elements: impl Iterator<Item = [&'v Bytes; N]>,
) {
    let mut elements = elements.peekable();
    while elements.peek().is_some() {
        let batch = elements.by_ref().take(BATCH).flatten().map(Vec::as_slice);
        encode(out, &[command.as_bytes(), key].into_iter().chain(batch).collect::<Vec<_>>());
    }
}

/// The most bytes read at a time.
const CHUNK: u64 = 256 * 1024;

/// Loads the append-only file if there is one and it is in use, or else the last snapshot; then goes on
/// appending.
pub fn load(server: &mut Server, database: &mut Database) -> io::Result<()> {
    if !server.config.appendonly {
        let snapshot = server.config.path(SNAPSHOT);
        return replay(server, database, &snapshot).map(|_| ());
    }
    let path = server.append_only.path.clone();
    let whole = replay(server, database, &path)?;
    server.append_only.open()?;
    if server.append_only.size > whole {
        // The server was killed while it wrote the last request, which was therefore never answered.
        eprintln!("valkey-lite: {} ends in half a request; cut at byte {whole}", path.display());
        OpenOptions::new().write(true).open(&path)?.set_len(whole)?;
        server.append_only.size = whole;
    }
    database.journal.enable(true);
    Ok(())
}

/// Executes the requests of a file. Returns the number of bytes up to the end of the last whole request.
fn replay(server: &mut Server, database: &mut Database, path: &Path) -> io::Result<u64> {
    let mut file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        other => other?,
    };
    let mut client = Client::default();
    let mut last = Instant::now();
    let (mut whole, mut offset) = (0, 0u64);
    let mut input = Vec::new();
    while Read::by_ref(&mut file).take(CHUNK).read_to_end(&mut input)? > 0 {
        let mut at = 0;
        while let Some(request) =
            client.parser.next(&input, &mut at).map_err(|error| corrupt(path, whole, &error))?
        {
            if !request.is_empty() {
                process(server, database, &mut client, request);
            }
            if client.output.first() == Some(&b'-') {
                return Err(corrupt(path, whole, &String::from_utf8_lossy(&client.output)));
            }
            client.output.clear();
            whole = offset + at as u64;
        }
        offset += at as u64;
        input.drain(..at);
        while_blocked(&mut last, server, database);
    }
    Ok(whole)
}

fn corrupt(path: &Path, whole: u64, reason: &str) -> io::Error {
    let path = path.display();
    io::Error::other(format!(
        "{path} cannot be read after byte {whole}: {}; restore it or remove it",
        reason.trim()
    ))
}
