//! Steps of durations as people count them: 1, 2, 5, 10, 20, 50 and so on.

/// The number of steps: one for 0, and three for each power of ten of a 64-bit number.
pub(super) const STEPS: usize = 59;

/// Where each step begins.
const STARTS: [u64; STEPS] = {
    let mut starts = [0; STEPS];
    let mut step = 0;
    while step < STEPS {
        starts[step] = step_start(step);
        step += 1;
    }
    starts
};

/// The step of a duration.
#[inline]
pub(super) fn step_of(ns: u64) -> usize {
    let Some(digits) = ns.checked_ilog10() else { return 0 };
    let step = 1 + 3 * digits as usize;
    let is_past = |step: usize| STARTS.get(step).is_some_and(|&start| ns >= start);
    step + usize::from(is_past(step + 1)) + usize::from(is_past(step + 2))
}

/// Where a step begins.
pub(super) const fn step_start(step: usize) -> u64 {
    match step.checked_sub(1) {
        None => 0,
        Some(place) => 10_u64.pow(place as u32 / 3) * [1, 2, 5][place % 3],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_duration_is_in_the_step_that_begins_at_or_before_it() {
        for step in 0..STEPS {
            let begin = step_start(step);
            assert_eq!(step_of(begin), step);
            assert!(step == 0 || step_of(begin - 1) == step - 1, "{begin}");
        }
        assert_eq!(step_of(u64::MAX), STEPS - 1);
    }
}
