//! Sending the keys of some slots to another server.

use std::io::{self, BufRead, BufReader, BufWriter};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::thread;

use crate::cluster::{SlotRange, slot_of};
use crate::database::Database;
use crate::dump;

/// Sends the keys as requests and reads the replies: with one error among them the copy has failed.
///
/// Replies are read meanwhile, on a thread, because a server stops reading from a client that leaves them unread.
pub fn copy_slots(database: &Database, slots: SlotRange, target: SocketAddr) -> io::Result<()> {
    let stream = TcpStream::connect(target)?;
    let replies = BufReader::new(stream.try_clone()?);
    let reader = thread::spawn(|| replies.lines().try_for_each(check_reply));
    let mut out = BufWriter::new(stream);
    dump::write(database, &mut out, |key| slots.contains(&slot_of(key)))?;
    out.into_inner()?.shutdown(Shutdown::Write)?;
    reader.join().unwrap_or_else(|_| Err(io::Error::other("reading replies has panicked")))
}

fn check_reply(line: io::Result<String>) -> io::Result<()> {
    match line?.starts_with('-') {
        true => Err(io::Error::other("the target refused a key")),
        false => Ok(()),
    }
}
