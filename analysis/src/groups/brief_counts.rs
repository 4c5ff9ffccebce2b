//! Brief durations of events that count alike, counted before they are added to their groups.

/// The first groups of a kind, and the durations in ticks, that are counted: nearly all events of a server.
const GROUPS: usize = 32;
const TICKS: usize = 32;

/// How often each duration was seen in each group.
#[derive(Clone, Debug)]
pub(crate) struct BriefCounts(Box<[[u32; TICKS]; GROUPS]>);

impl Default for BriefCounts {
    fn default() -> Self {
        BriefCounts(Box::new([[0; TICKS]; GROUPS]))
    }
}

impl BriefCounts {
    /// The count of a duration in a group, if it is one of these.
    #[inline(always)]
    pub fn of(&mut self, group: u32, ticks: u64) -> Option<&mut u32> {
        self.0.get_mut(group as usize)?.get_mut(usize::try_from(ticks).ok()?)
    }

    /// Takes out what was counted: the group, the duration and the number.
    pub fn take(&mut self, mut take: impl FnMut(u32, u64, u64)) {
        for (group, counts) in (0..).zip(self.0.iter_mut()) {
            // Compared as a whole, most would take a call.
            if counts.iter().fold(0, |any, count| any | count) == 0 {
                continue;
            }
            for (ticks, count) in
                (0..).zip(std::mem::replace(counts, [0; TICKS])).filter(|(_, count)| *count > 0)
            {
                take(group, ticks, count.into());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_counted_is_taken_out_once() {
        let mut counts = BriefCounts::default();
        for (group, ticks) in [(0, 0), (31, 31), (0, 0), (7, 5)] {
            *counts.of(group, ticks).expect("it is counted") += 1;
        }
        assert!(counts.of(32, 0).is_none() && counts.of(0, 32).is_none() && counts.of(0, u64::MAX).is_none());
        let mut taken = Vec::new();
        counts.take(|group, ticks, count| taken.push((group, ticks, count)));
        assert_eq!(taken, [(0, 0, 2), (7, 5, 1), (31, 31, 1)]);
        counts.take(|_, _, _| panic!("nothing is left"));
    }
}
