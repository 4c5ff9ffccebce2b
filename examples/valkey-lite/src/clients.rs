//! All clients, each in a slot that is also its token at the poll.

use crate::client::Client;

/// Slots; a client that is being served is out of its slot.
#[derive(Default)]
pub struct Clients {
    slots: Vec<Slot>,
    free: Vec<usize>,
    last_id: u64,
}

enum Slot {
    Free,
    /// Its client is being served.
    Taken,
    Filled(Box<Client>),
}

impl Clients {
    /// An id that no client has had.
    pub fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    /// Reserves a slot, to be filled by [`Self::put_back`].
    pub fn reserve(&mut self) -> usize {
        if let Some(slot) = self.free.pop() {
            self.slots[slot] = Slot::Taken;
            return slot;
        }
        self.slots.push(Slot::Taken);
        self.slots.len() - 1
    }

    /// Takes a client out of its slot, to serve it while others can be reached.
    pub fn take(&mut self, slot: usize) -> Option<Box<Client>> {
        let place = self.slots.get_mut(slot)?;
        match std::mem::replace(place, Slot::Taken) {
            Slot::Filled(client) => Some(client),
            other => {
                *place = other;
                None
            }
        }
    }

    /// Puts a client into its slot.
    pub fn put_back(&mut self, client: Box<Client>) {
        let slot = client.slot;
        self.slots[slot] = Slot::Filled(client);
    }

    /// Notes that nothing follows what a client has sent.
    pub fn note_last_bytes(&mut self, slot: usize) {
        if let Some(Slot::Filled(client)) = self.slots.get_mut(slot) {
            client.has_sent_all = true;
        }
    }

    /// Gives up the slot of a client that is gone.
    pub fn release(&mut self, slot: usize) {
        self.slots[slot] = Slot::Free;
        self.free.push(slot);
    }

    /// Clients with their slots, but for those being served.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &Client)> {
        self.slots.iter().enumerate().filter_map(|(slot, place)| match place {
            Slot::Filled(client) => Some((slot, client.as_ref())),
            _ => None,
        })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}
