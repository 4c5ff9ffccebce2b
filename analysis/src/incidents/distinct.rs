//! The clients that a turn served, each once.

/// Clients that are collected one after the other.
pub struct Distinct {
    clients: Vec<u32>,
    /// The ends of their numbers: mostly no two are the same, and nothing needs to be sorted.
    ends: [u64; 4],
    alike: u64,
}

impl Distinct {
    /// None so far, in memory that is used again.
    #[inline(always)]
    pub fn new(mut room: Vec<u32>) -> Self {
        room.clear();
        Distinct { clients: room, ends: [0; 4], alike: 0 }
    }

    /// Adds a client.
    #[inline(always)]
    pub fn add(&mut self, client: u32) {
        if self.clients.last() != Some(&client) {
            self.clients.push(client);
            let (place, end) = (client as usize / 64 % self.ends.len(), 1 << (client % 64));
            self.alike |= self.ends[place] & end;
            self.ends[place] |= end;
        }
    }

    /// All of them, each once, in any order.
    #[inline(always)]
    pub fn all(self) -> Vec<u32> {
        let Distinct { mut clients, alike, .. } = self;
        if alike != 0 {
            clients.sort_unstable();
            clients.dedup();
        }
        clients
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_client_is_there_once() {
        let seed = fastrand::u64(..);
        let mut random = fastrand::Rng::with_seed(seed);
        let mut room = vec![7];
        for _ in 0..1000 {
            let most = [4, 300, u32::MAX][random.usize(..3)];
            let served: Vec<u32> = (0..random.usize(..20)).map(|_| random.u32(..most)).collect();
            let mut distinct = Distinct::new(room);
            served.iter().for_each(|client| distinct.add(*client));
            room = distinct.all();
            let expected: BTreeSet<u32> = served.iter().copied().collect();
            assert_eq!(room.len(), expected.len(), "seed {seed}: {served:?}");
            assert_eq!(room.iter().copied().collect::<BTreeSet<_>>(), expected, "seed {seed}: {served:?}");
        }
    }
}
