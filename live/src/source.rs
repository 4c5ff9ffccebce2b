//! A trace that arrives, as a source of packets for the merge.

use std::io;
use std::sync::Arc;

use ctf_reader::{NextPacket, PacketSource};

use crate::inbox::Inbox;

/// The packets of one trace, as they arrive.
#[derive(Debug)]
pub struct LiveTrace {
    pub inbox: Arc<Inbox>,
    pub number: usize,
}

impl PacketSource for LiveTrace {
    fn metadata(&mut self) -> io::Result<Vec<u8>> {
        Ok(self.inbox.take_metadata(self.number))
    }

    fn streams(&mut self) -> io::Result<usize> {
        Ok(self.inbox.streams(self.number))
    }

    fn next_packet(&mut self, stream: usize) -> io::Result<NextPacket> {
        Ok(self.inbox.next_packet(self.number, stream))
    }

    fn is_complete(&self) -> bool {
        self.inbox.is_complete(self.number)
    }
}
