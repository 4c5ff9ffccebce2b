//! Loading the data when the server starts: replaying the requests of a file.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

use crate::child::SNAPSHOT;
use crate::client::Client;
use crate::cron::WhileBlocked;
use crate::database::Database;
use crate::execute::process;
use crate::server::Server;

/// The most bytes read at a time.
const CHUNK: usize = 256 * 1024;

/// Loads the append-only file if there is one and it is in use, or else the last snapshot; then goes on
/// appending.
pub fn load(server: &mut Server, database: &mut Database) -> io::Result<()> {
    if !server.config.appendonly {
        let snapshot = server.config.path(SNAPSHOT);
        return replay(server, database, &snapshot).map(|_| ());
    }
    let path = server.append_only.path().to_owned();
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
    let mut client = Client::without_connection();
    let mut blocked = WhileBlocked::new();
    let (mut whole, mut offset) = (0, 0u64);
    let mut input = Vec::new();
    while file.by_ref().take(CHUNK as u64).read_to_end(&mut input)? > 0 {
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
        blocked.cron(server, database);
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
