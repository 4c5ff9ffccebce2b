//! Which intervals a file of a given size has room for: the longest, and around incidents far shorter ones.

/// How far around an incident intervals are favoured; nanoseconds.
const AROUND: i64 = 10_000_000;

/// Levels are powers of two of a length, with steps between them: what contains another one is at no lower level.
const STEPS: u32 = 16;

/// Around an incident, an interval counts as a thousand times as long.
const FAVOUR: u16 = 10 * STEPS as u16;

/// The level of what is always kept.
pub const ALWAYS: u16 = 80 * STEPS as u16;

/// Takes note of how much there is of each level.
#[derive(Debug)]
pub struct Room {
    most: u64,
    /// The bytes that were admitted, by level.
    bytes: Vec<u64>,
    pub total: u64,
    /// The lowest level that there is room for.
    floor: u16,
    /// How much was refused at once.
    pub refused: u64,
    /// Times around incidents, once one was asked for in order and without overlaps.
    favoured: Vec<(i64, i64)>,
    is_in_order: bool,
}

impl Room {
    pub fn new(most: u64) -> Self {
        Room {
            most,
            bytes: vec![0; usize::from(ALWAYS) + 1],
            total: 0,
            floor: 0,
            refused: 0,
            favoured: Vec::new(),
            is_in_order: true,
        }
    }

    /// Favours what is near a span. All spans come before what is to be judged.
    pub fn favour(&mut self, (begin, end): (i64, i64)) {
        self.favoured.push((begin.saturating_sub(AROUND), end.saturating_add(AROUND)));
        self.is_in_order = false;
    }

    /// How much there must be room for an interval.
    pub fn level(&mut self, (begin, end): (i64, i64)) -> u16 {
        if !self.is_in_order {
            self.is_in_order = true;
            self.favoured.sort_unstable();
            self.favoured.dedup_by(|later, earlier| {
                let overlaps = later.0 <= earlier.1;
                earlier.1 = if overlaps { earlier.1.max(later.1) } else { earlier.1 };
                overlaps
            });
        }
        let after = self.favoured.partition_point(|span| span.0 <= end);
        let is_near = after.checked_sub(1).is_some_and(|last| self.favoured[last].1 >= begin);
        of_length(end.saturating_sub(begin)) + if is_near { FAVOUR } else { 0 }
    }

    /// Takes note of something at a level, if there is still room at that.
    pub fn admits(&mut self, level: u16, bytes: u64) -> bool {
        if level < self.floor {
            self.refused += 1;
            return false;
        }
        self.bytes[usize::from(level)] += bytes;
        self.total += bytes;
        while self.total > self.most && self.floor < ALWAYS {
            self.total -= self.bytes[usize::from(self.floor)];
            self.floor += 1;
        }
        true
    }

    /// Whether there was room for a level to the end.
    pub fn keeps(&self, level: u16) -> bool {
        level >= self.floor
    }

    /// The least length of what was kept far from incidents.
    pub fn shortest_ns(&self) -> u64 {
        let (bits, step) = (u32::from(self.floor) / STEPS, u32::from(self.floor) % STEPS);
        let whole = 1_u128 << bits;
        u64::try_from((whole + whole * u128::from(step) / u128::from(STEPS)) / 2).unwrap_or(u64::MAX)
    }
}

/// The level of a length: a number of steps more for every doubling.
fn of_length(length: i64) -> u16 {
    let length = length.max(0) as u64;
    let bits = 64 - length.leading_zeros();
    // What follows the first bit, as a part of a doubling.
    let rest = (u128::from(length) << 64 >> bits.max(1)) as u64 & (u64::MAX >> 1);
    let step = (u128::from(rest) * u128::from(2 * STEPS)) >> 64;
    (bits * STEPS) as u16 + step as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_are_kept_and_around_incidents_far_shorter_ones() {
        let mut room = Room::new(1000);
        room.favour((500_000_000, 510_000_000));
        let (short, long) = ((0, 1_000), (0, 1_000_000));
        let (near, nested) = ((495_000_000, 495_003_000), (495_000_000, 495_001_000));
        assert!(room.level(near) > room.level(short) && room.level(near) > room.level((0, 3_000)));
        assert!(room.level(near) >= room.level(nested));
        let levels = [short, long, near].map(|span| room.level(span));
        assert!((0..9).all(|_| room.admits(levels[0], 100)));
        assert!(room.admits(levels[1], 100) && room.admits(levels[2], 100), "what is longer displaces");
        assert_eq!(levels.map(|level| room.keeps(level)), [false, true, true]);
        assert!(!room.admits(levels[0], 100));
        assert_eq!(room.refused, 1);
        assert!((1_000..=2_000).contains(&room.shortest_ns()), "{}", room.shortest_ns());
    }

    #[test]
    fn levels_grow_with_lengths_and_say_the_least() {
        for length in (0..2_000).chain([1 << 40, i64::MAX]) {
            let level = of_length(length);
            assert!(level <= of_length(length.saturating_add(1)));
            let room = Room { floor: level, ..Room::new(0) };
            assert!(room.shortest_ns() as i64 <= length, "{length}: {}", room.shortest_ns());
        }
    }
}
