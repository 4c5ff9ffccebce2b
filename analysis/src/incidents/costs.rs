//! What requests usually cost: the mean of those that are not incidents themselves.

use crate::intervals::IntervalName;
use crate::reading::grown::grown;

/// The number of intervals needed to tell what one usually costs.
const ENOUGH: u64 = 20;

/// The number and the total length of the intervals of each name.
#[derive(Debug, Default)]
pub struct UsualCosts(Vec<(u64, i64)>);

impl UsualCosts {
    /// Adds equally long intervals.
    pub fn take(&mut self, name: IntervalName, length: i64, number: u64) {
        if let Some(place) = name.place() {
            let (count, total) = grown(&mut self.0, place);
            *count += number;
            *total = total.saturating_add(length.saturating_mul(number as i64));
        }
    }

    /// What an interval of this name takes on average, at least a microsecond; none where there are few.
    pub fn mean(&self, name: IntervalName) -> Option<i64> {
        let (count, total) = *self.0.get(name.key as usize)?;
        (count >= ENOUGH).then(|| (total / count as i64).max(1000))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_intervals_tell_nothing() {
        let name = IntervalName { kind: 3, key: 5 };
        let mut costs = UsualCosts::default();
        costs.take(name, 4000, ENOUGH - 1);
        assert_eq!(costs.mean(name), None);
        costs.take(name, 4000, 1);
        assert_eq!(costs.mean(name), Some(4000));
        assert_eq!(costs.mean(IntervalName { kind: 3, key: 4 }), None);
        costs.take(IntervalName { kind: 0, key: u32::MAX }, 1, 1);
    }
}
