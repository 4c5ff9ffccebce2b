//! Events that are alike, counted before they are added to their group.

use ctf_reader::ClassIndex;

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
    name: u32,
    /// Their duration in ticks, if they have one.
    pub ticks: Option<u64>,
    /// When the second begins.
    pub begin: i64,
    /// The kind and the place of their group.
    pub kind: usize,
    pub place: Place,
    pub count: u64,
}

impl Alike {
    const NONE: Alike = Alike {
        class: ClassIndex::MAX,
        name: 0,
        ticks: None,
        begin: 0,
        kind: 0,
        place: Place::Keyless,
        count: 0,
    };
}

impl Default for LastAlike {
    fn default() -> Self {
        LastAlike(Box::new([Alike::NONE; PLACES]))
    }
}

impl LastAlike {
    #[inline(always)]
    fn at(&mut self, name: u32, ticks: Option<u64>) -> &mut Alike {
        &mut self.0[(name << 3).wrapping_add(ticks.unwrap_or(0) as u32) as usize % PLACES]
    }

    /// Counts an event of a class if it is like others. Returns whether it is.
    #[inline(always)]
    pub fn count(&mut self, class: ClassIndex, said: Said, time: i64) -> bool {
        // Neither the thread nor the client matters.
        let Said { name, ticks, .. } = said;
        let alike = self.at(name, ticks);
        let is_alike = (alike.class, alike.name, alike.ticks) == (class, name, ticks)
            && (time.wrapping_sub(alike.begin) as u64) < SECOND as u64;
        alike.count += u64::from(is_alike);
        is_alike
    }

    /// Counts events like this one of a class from now on: those in the second that begins then, which are in this group. Returns
    /// those that were counted in their place.
    pub fn replace(
        &mut self,
        class: ClassIndex,
        Said { name, ticks, .. }: Said,
        begin: i64,
        (kind, place): (usize, Place),
    ) -> Alike {
        std::mem::replace(self.at(name, ticks), Alike { class, name, ticks, begin, kind, place, count: 0 })
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
        let said = Said { thread: 7, client: 0, name: 3, ticks: Some(20) };
        assert!(!last.count(1, said, 5));
        assert_eq!(last.replace(1, said, 0, (4, Place::Keyed(9))).count, 0);
        assert!(last.count(1, said, 5) && last.count(1, Said { thread: 8, client: 5, ..said }, SECOND - 1));
        let others = [(2, said), (1, Said { name: 4, ..said }), (1, Said { ticks: Some(21), ..said })];
        assert!(others.into_iter().all(|(class, said)| !last.count(class, said, 5)));
        assert!([SECOND, -1, i64::MIN].into_iter().all(|time| !last.count(1, said, time)));
        let alike = last.replace(1, said, SECOND, (4, Place::Keyed(9)));
        assert_eq!((alike.count, alike.begin, alike.ticks), (2, 0, Some(20)));
        assert!(last.count(1, said, SECOND));
        assert_eq!(last.into_iter().map(|alike| alike.count).sum::<u64>(), 1);
    }
}
