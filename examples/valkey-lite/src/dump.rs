//! The data as the requests that make it: the form of snapshots, rewritten append-only files and copied slots.

use std::io::{self, Write};
use std::thread;
use std::time::Duration;

use crate::database::Database;
use crate::number::format_float;
use crate::request::{Bytes, encode};
use crate::value::{Millis, Value};

/// The most elements in one request.
const BATCH: usize = 64;

/// Writes the keys that `wanted` accepts; pauses before each one if told to.
pub fn write(
    database: &Database,
    out: &mut impl Write,
    wanted: impl Fn(&[u8]) -> bool,
    pause: Duration,
) -> io::Result<()> {
    let mut buffer = Bytes::new();
    for (key, value, expiry) in database.iter().filter(|(key, _, _)| wanted(key)) {
        if !pause.is_zero() {
            thread::sleep(pause);
        }
        encode_value(&mut buffer, key, value);
        if let Some(expiry) = expiry {
            encode(&mut buffer, &[&b"PEXPIREAT"[..], key, expiry.to_string().as_bytes()]);
        }
        out.write_all(&buffer)?;
        buffer.clear();
    }
    Ok(())
}

fn encode_value(out: &mut Bytes, key: &[u8], value: &Value) {
    match value {
        Value::String(bytes) => encode(out, &[b"SET", key, bytes]),
        Value::List(list) => in_batches(out, "RPUSH", key, list.iter().map(|element| [element.clone()])),
        Value::Set(set) => in_batches(out, "SADD", key, set.iter().map(|member| [member.clone()])),
        Value::SortedSet(set) => {
            let pairs = set.iter().map(|(member, score)| [format_float(score).into_bytes(), member.clone()]);
            in_batches(out, "ZADD", key, pairs);
        }
        Value::Hash(hash) => {
            in_batches(out, "HSET", key, hash.iter().map(|(field, value, _)| [field.clone(), value.clone()]));
            for (field, _, expiry) in hash.iter() {
                if let Some(expiry) = expiry {
                    encode(out, &expire_fields(key, expiry, &[field]));
                }
            }
        }
    }
}

/// The request that sets the expiry time of fields.
pub fn expire_fields(key: &[u8], expiry: Millis, fields: &[impl AsRef<[u8]>]) -> Vec<Bytes> {
    let mut request: Vec<Bytes> = vec![
        b"HPEXPIREAT".into(),
        key.into(),
        expiry.to_string().into(),
        b"FIELDS".into(),
        fields.len().to_string().into(),
    ];
    request.extend(fields.iter().map(|field| field.as_ref().to_vec()));
    request
}

fn in_batches<const N: usize>(
    out: &mut Bytes,
    command: &str,
    key: &[u8],
    elements: impl Iterator<Item = [Bytes; N]>,
) {
    let mut elements = elements.peekable();
    while elements.peek().is_some() {
        let mut request = vec![command.as_bytes().to_vec(), key.to_vec()];
        request.extend(elements.by_ref().take(BATCH).flatten());
        encode(out, &request);
    }
}
