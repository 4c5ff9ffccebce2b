//! Events that are alike, counted before they are added to their group.

use ctf_reader::{ClassIndex, Digest};

use super::slices::FINE as SECOND;
use crate::groups::Place;
use crate::intervals::Said;

/// The number of places, each for events that are alike.
const PLACES: usize = 128;

/// Counts events that are like some of the last ones, each in the place that its name and duration have. Most are, so that
/// groups and their histograms are changed for many at once.
#[derive(Clone, Debug)]
pub(super) struct LastAlike(Box<[Alike; PLACES]>);

/// Events of a class that have the same name and duration, found out where they were read, and are in the same second.
#[derive(Clone, Copy, Debug)]
pub(super) struct Alike {
    pub class: ClassIndex,
    digest: Digest,
    /// When the second begins.
    pub begin: i64,
    /// The kind and the place of their group.
    pub kind: usize,
    pub place: Place,
    pub count: u64,
}

impl Alike {
    const NONE: Alike =
        Alike { class: ClassIndex::MAX, digest: [0; 3], begin: 0, kind: 0, place: Place::Keyless, count: 0 };

    /// Their duration in ticks, if they have one.
    pub fn ticks(&self) -> Option<u64> {
        Said::from(self.digest).ticks()
    }
}

impl Default for LastAlike {
    fn default() -> Self {
        LastAlike(Box::new([Alike::NONE; PLACES]))
    }
}

impl LastAlike {
    #[inline(always)]
    fn at(&mut self, [_, name, ticks]: Digest) -> &mut Alike {
        &mut self.0[(name << 3).wrapping_add(ticks) as usize % PLACES]
    }

    /// Counts an event of a class if it is like others. Returns whether it is.
    #[inline(always)]
    pub fn count(&mut self, class: ClassIndex, digest: Digest, time: i64) -> bool {
        let alike = self.at(digest);
        // Neither the thread nor the client matters.
        let is_alike = alike.class == class
            && alike.digest[1..] == digest[1..]
            && (time.wrapping_sub(alike.begin) as u64) < SECOND as u64;
        alike.count += u64::from(is_alike);
        is_alike
    }

    /// Counts events like this one of a class from now on: those in the second that begins then, which are in this group. Returns
    /// those that were counted in their place.
    pub fn replace(
        &mut self,
        class: ClassIndex,
        digest: Digest,
        begin: i64,
        (kind, place): (usize, Place),
    ) -> Alike {
        std::mem::replace(self.at(digest), Alike { class, digest, begin, kind, place, count: 0 })
    }
}

impl IntoIterator for LastAlike {
    type Item = Alike;
    type IntoIter = std::array::IntoIter<Alike, PLACES>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_alike_if_they_have_a_class_a_name_a_duration_and_a_second_in_common() {
        let mut last = LastAlike::default();
        let digest = [7, 3 | 1 << 32, 20];
        assert!(!last.count(1, digest, 5));
        assert_eq!(last.replace(1, digest, 0, (4, Place::Keyed(9))).count, 0);
        assert!(last.count(1, digest, 5) && last.count(1, [8, digest[1], 20], SECOND - 1));
        let others = [(2, digest, 5), (1, [7, 4 | 1 << 32, 20], 5), (1, [7, digest[1], 21], 5)];
        assert!(others.into_iter().all(|(class, digest, time)| !last.count(class, digest, time)));
        assert!([SECOND, -1, i64::MIN].into_iter().all(|time| !last.count(1, digest, time)));
        let alike = last.replace(1, digest, SECOND, (4, Place::Keyed(9)));
        assert_eq!((alike.count, alike.begin, alike.ticks()), (2, 0, Some(20)));
        assert!(last.count(1, digest, SECOND));
        assert_eq!(last.into_iter().map(|alike| alike.count).sum::<u64>(), 1);
    }
}
