//! Something kept for each group: a hash table from keys, as bytes, for each kind of event.

use std::hash::{BuildHasher, Hasher};

use hashbrown::{DefaultHashBuilder, HashTable};

use ctf_reader::Brief;

use crate::reading::grown::grown;

/// A `T` for each group of each kind.
#[derive(Clone, Debug)]
pub(crate) struct Groups<T> {
    /// Kinds without a group take no memory: a trace may have a million of them.
    kinds: Vec<Option<Box<OfKind<T>>>>,
    /// Seeded at random: keys come from the trace, which must not be able to provoke collisions.
    hasher: DefaultHashBuilder,
    keyed: usize,
}

/// A `T` for each group of one kind.
#[derive(Clone, Debug)]
pub(crate) struct OfKind<T> {
    /// The one group of a kind without keys.
    keyless: Option<T>,
    places: HashTable<u32>,
    keyed: Vec<(Box<[u8]>, T)>,
    recent: RecentKeys,
    /// For keys without a brief form: the number of a key that ends like others of its place, which was met last.
    met: Vec<u32>,
}

/// Where a group of a kind is, until groups are taken out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Keyless,
    Keyed(u32),
}

/// A cache of recently seen groups by their brief keys, with a number for each. Most events hit it, so that most keys are
/// neither hashed nor compared byte by byte.
///
/// There are two in each place, the newer one first: with one, of fifty keys some five would always displace each other.
#[derive(Clone, Debug)]
pub(crate) struct RecentKeys(Box<[[(Brief, u32); 2]; 1 << RecentKeys::BITS]>);

impl RecentKeys {
    const BITS: u32 = 7;

    /// The most groups that it may have.
    pub const MOST: usize = 2 << RecentKeys::BITS;

    /// The number of a key, if it is there.
    #[inline(always)]
    pub fn get(&self, key: Brief) -> Option<u32> {
        let [first, second] = &self.0[RecentKeys::place(key)];
        if first.0 == key {
            return Some(first.1);
        }
        (second.0 == key).then_some(second.1)
    }

    /// Remembers the number of a key that is not there.
    pub fn enter(&mut self, key: Brief, number: u32) {
        let place = &mut self.0[RecentKeys::place(key)];
        *place = [(key, number), place[0]];
    }

    #[inline(always)]
    fn place(key: Brief) -> usize {
        (key.mix() >> (u64::BITS - RecentKeys::BITS)) as usize
    }
}

impl Default for RecentKeys {
    fn default() -> Self {
        RecentKeys(Box::new([[(Brief::NONE, 0); 2]; 1 << RecentKeys::BITS]))
    }
}

impl<T> Default for OfKind<T> {
    fn default() -> Self {
        let (places, recent) = (HashTable::new(), RecentKeys::default());
        OfKind { keyless: None, places, keyed: Vec::new(), recent, met: Vec::new() }
    }
}

impl<T> OfKind<T> {
    /// The value of a recently seen group.
    #[inline(always)]
    pub fn recall(&mut self, key: Brief) -> Option<&mut T> {
        let place = self.recent.get(key)?;
        self.keyed.get_mut(place as usize).map(|(_, value)| value)
    }

    /// A copy of the value of a recently seen group.
    #[inline(always)]
    pub fn recalled(&self, key: Brief) -> Option<T>
    where
        T: Copy,
    {
        self.keyed.get(self.recent.get(key)? as usize).map(|(_, value)| *value)
    }

    /// The number of the place of a recently seen group.
    #[inline(always)]
    pub fn recall_number(&self, key: Brief) -> Option<u32> {
        self.recent.get(key)
    }

    /// The place of a recently seen group.
    #[inline(always)]
    pub fn recall_place(&self, key: Brief) -> Option<Place> {
        self.recall_number(key).map(Place::Keyed)
    }

    /// The place of the group without a key, if there is one.
    #[inline(always)]
    pub fn keyless_place(&self) -> Option<Place> {
        self.keyless.as_ref().map(|_| Place::Keyless)
    }

    /// The value of the group without a key, if there is one.
    #[inline(always)]
    pub fn keyless(&self) -> Option<T>
    where
        T: Copy,
    {
        self.keyless
    }

    /// The value of the group in a place.
    #[inline(always)]
    pub fn at(&mut self, place: Place) -> Option<&mut T> {
        match place {
            Place::Keyless => self.keyless.as_mut(),
            Place::Keyed(place) => self.keyed.get_mut(place as usize).map(|(_, value)| value),
        }
    }
}

impl<T> Default for Groups<T> {
    fn default() -> Self {
        Groups { kinds: Vec::new(), hasher: DefaultHashBuilder::default(), keyed: 0 }
    }
}

impl<T> Groups<T> {
    /// The number of groups with a key.
    pub fn keyed(&self) -> usize {
        self.keyed
    }

    /// The place of a group, if it is known.
    #[inline]
    pub fn find(&self, kind: usize, key: &[u8]) -> Option<Place> {
        let of_kind = self.kinds.get(kind)?.as_ref()?;
        if key.is_empty() {
            return of_kind.keyless.as_ref().map(|_| Place::Keyless);
        }
        let hash = hash_of(&self.hasher, key);
        let is_key = |&place: &u32| *of_kind.keyed[place as usize].0 == *key;
        of_kind.places.find(hash, is_key).map(|&place| Place::Keyed(place))
    }

    /// The value of a group.
    #[inline]
    pub fn get(&self, kind: usize, key: &[u8]) -> Option<&T> {
        self.at(kind, self.find(kind, key)?)
    }

    /// The value of the group in a place.
    #[inline]
    pub fn at(&self, kind: usize, place: Place) -> Option<&T> {
        let of_kind = self.kinds.get(kind)?.as_ref()?;
        match place {
            Place::Keyless => of_kind.keyless.as_ref(),
            Place::Keyed(place) => of_kind.keyed.get(place as usize).map(|(_, value)| value),
        }
    }

    /// The value of a group whose key has no brief form: mostly it was met lately, and is found without hashing all of it.
    pub fn meet(&mut self, kind: usize, key: &[u8]) -> Option<&T> {
        let ending = ending(key);
        let of_kind = self.kinds.get(kind)?.as_ref()?;
        let met = of_kind
            .met
            .get(ending)
            .copied()
            .filter(|&place| of_kind.keyed.get(place as usize).is_some_and(|(known, _)| **known == *key));
        if let Some(place) = met {
            return self.at(kind, Place::Keyed(place));
        }
        let place = self.find(kind, key)?;
        if let Place::Keyed(number) = place {
            let met = &mut self.of_kind(kind).met;
            met.resize(ENDINGS, u32::MAX);
            met[ending] = number;
        }
        self.at(kind, place)
    }

    /// The value of a group, to change it.
    pub fn get_mut(&mut self, kind: usize, key: &[u8]) -> Option<&mut T> {
        let place = self.find(kind, key)?;
        self.of_kind(kind).at(place)
    }

    /// The value of a group, created if it is new.
    #[inline]
    pub fn entry(&mut self, kind: usize, key: &[u8], make: impl FnOnce() -> T) -> &mut T {
        if key.is_empty() {
            return self.of_kind(kind).keyless.get_or_insert_with(make);
        }
        let place = self.place(kind, key, make);
        &mut self.of_kind(kind).keyed[place as usize].1
    }

    /// Like [`entry`](Groups::entry), for a key with a brief form, which can be recalled from now on.
    pub fn recallable(&mut self, kind: usize, brief: Brief, key: &[u8], make: impl FnOnce() -> T) -> &mut T {
        let place = self.place(kind, key, make);
        let of_kind = self.of_kind(kind);
        of_kind.recent.enter(brief, place);
        &mut of_kind.keyed[place as usize].1
    }

    /// The groups of a kind.
    #[inline(always)]
    pub fn of_kind(&mut self, kind: usize) -> &mut OfKind<T> {
        // The borrow checker does not know yet that what is returned from a match is not borrowed where it fails.
        match self.kinds.get(kind) {
            Some(Some(_)) => match &mut self.kinds[kind] {
                Some(of_kind) => of_kind,
                None => unreachable!("it was just there"),
            },
            _ => self.enter_kind(kind),
        }
    }

    #[cold]
    #[inline(never)]
    fn enter_kind(&mut self, kind: usize) -> &mut OfKind<T> {
        grown(&mut self.kinds, kind).get_or_insert_default()
    }

    /// The place of a group with a key, created if it is new.
    fn place(&mut self, kind: usize, key: &[u8], make: impl FnOnce() -> T) -> u32 {
        let hash = hash_of(&self.hasher, key);
        let OfKind { places, keyed, .. } = &mut **grown(&mut self.kinds, kind).get_or_insert_default();
        if let Some(&place) = places.find(hash, |&place| *keyed[place as usize].0 == *key) {
            return place;
        }
        let place = keyed.len() as u32;
        keyed.push((key.into(), make()));
        places.insert_unique(hash, place, |&place| hash_of(&self.hasher, &keyed[place as usize].0));
        self.keyed += 1;
        place
    }

    /// Everything, with the kind and the key.
    pub fn entries(&self) -> impl Iterator<Item = (usize, &[u8], &T)> {
        let kinds = self.kinds.iter().enumerate();
        kinds.filter_map(|(kind, of_kind)| Some((kind, of_kind.as_ref()?))).flat_map(|(kind, of_kind)| {
            let keyless = of_kind.keyless.iter().map(|value| (&[][..], value));
            let keyed = of_kind.keyed.iter().map(|(key, value)| (&**key, value));
            keyless.chain(keyed).map(move |(key, value)| (kind, key, value))
        })
    }

    /// All values, in the order of [`entries`](Groups::entries), to change them.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.kinds.iter_mut().flatten().flat_map(|of_kind| {
            of_kind.keyless.iter_mut().chain(of_kind.keyed.iter_mut().map(|(_, value)| value))
        })
    }

    /// Everything, with the kind and the key.
    pub fn into_entries(self) -> impl Iterator<Item = (usize, Box<[u8]>, T)> {
        let kinds = self.kinds.into_iter().enumerate();
        kinds.filter_map(|(kind, of_kind)| Some((kind, *of_kind?))).flat_map(|(kind, of_kind)| {
            let keyless = of_kind.keyless.map(|value| (Box::default(), value));
            keyless.into_iter().chain(of_kind.keyed).map(move |(key, value)| (kind, key, value))
        })
    }

    /// Removes and returns the groups with a key.
    pub fn take_keyed(&mut self) -> Vec<(usize, Box<[u8]>, T)> {
        self.keyed = 0;
        let take = |(kind, of_kind): (usize, &mut Box<OfKind<T>>)| {
            of_kind.places.clear();
            (of_kind.recent, of_kind.met) = (RecentKeys::default(), Vec::new());
            let keyed = std::mem::take(&mut of_kind.keyed);
            keyed.into_iter().map(move |(key, value)| (kind, key, value))
        };
        let kinds = self.kinds.iter_mut().enumerate();
        kinds.filter_map(|(kind, of_kind)| Some((kind, of_kind.as_mut()?))).flat_map(take).collect()
    }
}

/// The number of endings of keys that are told apart.
const ENDINGS: usize = 256;

/// A number for how a key ends: of addresses and paths that is what they differ by.
fn ending(key: &[u8]) -> usize {
    let last = key.last_chunk().map_or(0, |last| u64::from_le_bytes(*last));
    (last.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - ENDINGS.ilog2())) as usize
}

/// Keys are self-delimiting, so they are hashed without the length that `hash_one` would add.
#[inline]
fn hash_of(hasher: &DefaultHashBuilder, key: &[u8]) -> u64 {
    let mut hasher = hasher.build_hasher();
    hasher.write(key);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ctf_reader::Value;

    #[test]
    fn groups_are_recalled_until_they_are_taken_out() {
        let mut groups = Groups::default();
        let brief = |key: u64| Brief::from(&Value::Unsigned(key));
        for key in 0..1000_u64 {
            assert_eq!(groups.of_kind(1).recall(brief(key)), None);
            *groups.recallable(1, brief(key), &key.to_le_bytes(), || 0) = key;
            assert_eq!(groups.of_kind(1).recall(brief(key)), Some(&mut { key }));
            assert_eq!(groups.of_kind(0).recall(brief(key)), None);
        }
        let mut is_recalled = |&key: &u64| groups.of_kind(1).recall(brief(key)) == Some(&mut { key });
        let recalled = (0..1000).filter(&mut is_recalled).count();
        assert!(recalled > 128, "{recalled}");
        assert_eq!(groups.of_kind(1).recall(Brief::OTHER), None);
        groups.take_keyed();
        assert_eq!(groups.of_kind(1).recall(brief(999)), None);
    }

    #[test]
    fn groups_are_met_by_their_whole_keys() {
        let mut groups = Groups::default();
        // Many end alike.
        let key = |number: u32| format!("{number} /var/run/server.sock:{}", number % 7).into_bytes();
        for number in 0..1000 {
            assert_eq!(groups.meet(3, &key(number)), None);
            groups.entry(3, &key(number), || number);
        }
        for number in (0..1000).chain(500..600).chain([7, 7, 14, 7]) {
            assert_eq!(groups.meet(3, &key(number)), Some(&number));
            assert_eq!(groups.meet(2, &key(number)), None);
            assert_eq!(groups.meet(3, &key(number + 1000)), None);
        }
        assert_eq!(groups.meet(3, b""), None);
        assert_eq!(groups.meet(3, b"short"), None);
        groups.take_keyed();
        assert_eq!(groups.meet(3, &key(7)), None);
    }

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
