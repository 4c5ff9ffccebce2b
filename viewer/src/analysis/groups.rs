//! Something kept for each group: a hash table from keys, as bytes, for each kind of event.

use std::hash::{BuildHasher, Hasher};

use hashbrown::{DefaultHashBuilder, HashTable};

/// A `T` for each group of each kind.
#[derive(Clone, Debug)]
pub(super) struct Groups<T> {
    kinds: Vec<OfKind<T>>,
    /// Seeded at random for each run: keys come from the trace, and must not be able to collide on purpose.
    hasher: DefaultHashBuilder,
    keyed: usize,
}

#[derive(Clone, Debug)]
struct OfKind<T> {
    /// The one group of a kind without keys.
    keyless: Option<T>,
    places: HashTable<u32>,
    keyed: Vec<(Box<[u8]>, T)>,
}

impl<T> Default for OfKind<T> {
    fn default() -> Self {
        OfKind { keyless: None, places: HashTable::new(), keyed: Vec::new() }
    }
}

impl<T> Default for Groups<T> {
    fn default() -> Self {
        Groups { kinds: Vec::new(), hasher: DefaultHashBuilder::default(), keyed: 0 }
    }
}

impl<T> Groups<T> {
    /// How many groups there are that a key tells apart.
    pub fn keyed(&self) -> usize {
        self.keyed
    }

    /// What is kept for a group, if anything.
    #[inline]
    pub fn get(&self, kind: usize, key: &[u8]) -> Option<&T> {
        let of_kind = self.kinds.get(kind)?;
        if key.is_empty() {
            return of_kind.keyless.as_ref();
        }
        let hash = hash_of(&self.hasher, key);
        let place = of_kind.places.find(hash, |&place| *of_kind.keyed[place as usize].0 == *key)?;
        Some(&of_kind.keyed[*place as usize].1)
    }

    /// What is kept for a group, made if need be.
    #[inline]
    pub fn entry(&mut self, kind: usize, key: &[u8], make: impl FnOnce() -> T) -> &mut T {
        if self.kinds.len() <= kind {
            self.kinds.resize_with(kind + 1, OfKind::default);
        }
        let OfKind { keyless, places, keyed } = &mut self.kinds[kind];
        if key.is_empty() {
            return keyless.get_or_insert_with(make);
        }
        let hash = hash_of(&self.hasher, key);
        let place = match places.find(hash, |&place| *keyed[place as usize].0 == *key) {
            Some(&place) => place,
            None => {
                let place = keyed.len() as u32;
                keyed.push((key.into(), make()));
                places.insert_unique(hash, place, |&place| hash_of(&self.hasher, &keyed[place as usize].0));
                self.keyed += 1;
                place
            }
        };
        &mut keyed[place as usize].1
    }

    /// Everything, with the kind and the key.
    pub fn into_entries(self) -> impl Iterator<Item = (usize, Box<[u8]>, T)> {
        self.kinds.into_iter().enumerate().flat_map(|(kind, of_kind)| {
            let keyless = of_kind.keyless.map(|value| (Box::default(), value));
            keyless.into_iter().chain(of_kind.keyed).map(move |(key, value)| (kind, key, value))
        })
    }

    /// Takes the groups with a key out.
    pub fn take_keyed(&mut self) -> Vec<(usize, Box<[u8]>, T)> {
        self.keyed = 0;
        let take = |(kind, of_kind): (usize, &mut OfKind<T>)| {
            of_kind.places.clear();
            let keyed = std::mem::take(&mut of_kind.keyed);
            keyed.into_iter().map(move |(key, value)| (kind, key, value))
        };
        self.kinds.iter_mut().enumerate().flat_map(take).collect()
    }
}

/// Keys say where they end, so they are hashed without the length that `hash_one` would add.
#[inline]
fn hash_of(hasher: &DefaultHashBuilder, key: &[u8]) -> u64 {
    let mut hasher = hasher.build_hasher();
    hasher.write(key);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_of_each_kind_has_its_own_place() {
        let mut groups = Groups::default();
        for round in 0..3 {
            for kind in 0..3 {
                *groups.entry(kind, b"", || 0) += 1;
                for key in 0..1000u32 {
                    *groups.entry(kind, &key.to_le_bytes(), || 0) += 1;
                }
            }
            assert_eq!(groups.keyed(), 3000, "round {round}");
        }
        assert_eq!(groups.get(1, &7u32.to_le_bytes()), Some(&3));
        assert_eq!(groups.get(1, b""), Some(&3));
        assert_eq!((groups.get(1, b"none"), groups.get(9, b"none")), (None, None));
        assert!(groups.clone().into_entries().all(|(_, _, count)| count == 3));
        assert_eq!(groups.clone().into_entries().count(), 3003);
        assert_eq!(groups.take_keyed().len(), 3000);
        assert_eq!(groups.get(1, &7u32.to_le_bytes()), None);
        assert_eq!(groups.into_entries().count(), 3);
    }
}
