//! All clients, each in a slot whose number is also its token at the poll.

use crate::client::Client;

/// Slots; that of a client which is being served is empty meanwhile.
#[derive(Default)]
pub struct Clients {
    slots: Vec<Option<Box<Client>>>,
    free: Vec<usize>,
}

impl Clients {
    /// Reserves a slot, to be filled by [`Self::put_back`].
    pub fn reserve(&mut self) -> usize {
        self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        })
    }

    /// Takes a client out of its slot, to serve it while others can be reached.
    pub fn take(&mut self, slot: usize) -> Option<Box<Client>> {
        self.slots.get_mut(slot)?.take()
    }

    /// Puts a client into its slot.
    pub fn put_back(&mut self, client: Box<Client>) {
        let slot = client.slot;
        self.slots[slot] = Some(client);
    }

    /// Notes that a client has closed its side of the connection.
    pub fn note_last_bytes(&mut self, slot: usize) {
        if let Some(Some(client)) = self.slots.get_mut(slot) {
            client.has_sent_all = true;
        }
    }

    /// Frees the slot of a client that is gone, and has been taken out of it.
    pub fn release(&mut self, slot: usize) {
        self.free.push(slot);
    }

    /// The number of clients.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}
