//! Sending the keys of some slots to another server.

use std::io::{self, BufWriter, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::thread;
use std::time::Duration;

use crate::cluster::{SlotRange, slot_of};
use crate::database::Database;
use crate::dump;

/// Sends the keys as requests and reads the replies: with one error among them the copy has failed.
pub fn copy_slots(database: &Database, slots: SlotRange, target: SocketAddr) -> io::Result<()> {
    let mut out = BufWriter::new(Conversation::open(target)?);
    dump::write(database, &mut out, |key| slots.contains(&slot_of(key)), Duration::ZERO)?;
    out.into_inner()?.close()
}

/// A connection on which writing also reads: the target stops reading when its replies are left unread.
struct Conversation {
    stream: TcpStream,
    is_line_start: bool,
}

impl Conversation {
    fn open(target: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(target)?;
        stream.set_nonblocking(true)?;
        Ok(Self { stream, is_line_start: true })
    }

    /// Reads the replies that are there. Returns whether more may come.
    fn read_replies(&mut self) -> io::Result<bool> {
        let mut buffer = [0; 4096];
        loop {
            match self.stream.read(&mut buffer) {
                Ok(0) => return Ok(false),
                Ok(length) => {
                    for &byte in &buffer[..length] {
                        if self.is_line_start && byte == b'-' {
                            return Err(io::Error::other("the target refused a key"));
                        }
                        self.is_line_start = byte == b'\n';
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(true),
                Err(error) => return Err(error),
            }
        }
    }

    /// Says that there is no more, and waits for the last reply.
    fn close(mut self) -> io::Result<()> {
        self.stream.set_nonblocking(false)?;
        self.stream.shutdown(Shutdown::Write)?;
        while self.read_replies()? {}
        Ok(())
    }
}

impl Write for Conversation {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            self.read_replies()?;
            match self.stream.write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    thread::sleep(Duration::from_millis(1))
                }
                result => return result,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
