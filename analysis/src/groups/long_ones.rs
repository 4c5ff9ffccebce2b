//! Which durations are long, before all are known.

/// This number of long ones more may come before fewer count as long: at first, and each time after that.
const FIRST: i64 = 1000;
const MORE: i64 = 64;

/// Durations of which about one in a number is long. From which on they are is raised as more come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LongOnes<const ONE_IN: i64> {
    /// All that took this or longer were long when they came.
    pub least: u64,
    /// How many long ones may come, in parts of one.
    credit: i64,
}

impl<const ONE_IN: i64> Default for LongOnes<ONE_IN> {
    fn default() -> Self {
        LongOnes { least: 0, credit: FIRST * ONE_IN }
    }
}

impl<const ONE_IN: i64> LongOnes<ONE_IN> {
    /// Takes one, and says whether it is long.
    #[inline(always)]
    pub fn take(&mut self, ticks: u64) -> bool {
        self.credit += 1;
        let is_long = ticks >= self.least;
        if is_long {
            self.pay();
        }
        is_long
    }

    #[inline(never)]
    fn pay(&mut self) {
        self.credit -= ONE_IN;
        if self.credit < 0 {
            self.least += 1 + self.least / 8;
            self.credit = MORE * ONE_IN;
        }
    }

    /// Adds those that another one has taken.
    pub fn absorb(&mut self, other: Self) {
        self.least = self.least.max(other.least);
    }
}
