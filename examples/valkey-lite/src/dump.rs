//! The data as the requests that make it: the form of snapshots, rewritten append-only files and copied slots.

use std::io::{self, Write};

use crate::database::Database;
use crate::request::{Bytes, encode};
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
            in_batches(out, "HSET", key, hash.iter().map(|(field, value, _)| [field, value]));
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
