//! When a command ends.
//!
//! A server tells a module that a command begins (the command filter), and that the event loop is about to sleep or has
//! woken up, but not that a command has ended. So a command ends where the next one begins or the loop sleeps.
//!
//! Three kinds of commands run others: scripts, EXEC and commands of modules. What passes the filter meanwhile is nested: it
//! does not end the outer command, and is not recorded, because where a nested command ends cannot be known.

/// Which commands of others may begin while a command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runs {
    /// None.
    Nothing,
    /// A script's, or those of a transaction; the server can be asked whether one runs.
    Script,
    /// A module's, which the server tells apart only by their client.
    Module,
}

/// Where a command that begins comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    /// A connection, or the server cannot tell.
    Client,
    /// A script, a transaction or a module.
    Nested,
    /// Either, because a module's command runs and the server cannot tell clients apart.
    Unclear,
}

/// A command that runs, with what its event needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Running<C> {
    /// What is recorded of it.
    pub command: C,
    /// What it may run.
    pub runs: Runs,
    start: u64,
}

/// A command that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended<C> {
    /// What is recorded of it.
    pub command: C,
    /// How long it took, in the unit of the times given.
    pub duration: u64,
}

/// The commands of one server, one after another. Times are given in any unit and never decrease.
#[derive(Debug)]
pub struct Sequence<C> {
    running: Option<Running<C>>,
    /// A module's command ran into another's beginning: until the loop sleeps, it is not known what ends where.
    unclear: bool,
}

impl<C: Copy> Sequence<C> {
    /// No command has begun.
    pub const fn new() -> Self {
        Sequence { running: None, unclear: false }
    }

    /// What the running command may run, to be asked before [`begin`](Self::begin).
    pub fn runs(&self) -> Runs {
        self.running.map_or(Runs::Nothing, |running| running.runs)
    }

    /// A command begins, which may end another one. `None` stands for a command that is not recorded.
    pub fn begin(&mut self, now: u64, caller: Caller, next: Option<(C, Runs)>) -> Option<Ended<C>> {
        match caller {
            Caller::Nested => return None,
            Caller::Unclear => self.unclear = true,
            Caller::Client => {}
        }
        if self.unclear {
            self.running = None;
            return None;
        }
        let ended = self.end(now);
        self.running = next.map(|(command, runs)| Running { command, runs, start: now });
        ended
    }

    /// The server turns to work of its own, which ends a command.
    pub fn interrupt(&mut self, now: u64) -> Option<Ended<C>> {
        self.end(now)
    }

    /// The event loop is about to sleep.
    pub fn sleep(&mut self, now: u64) -> Option<Ended<C>> {
        self.unclear = false;
        self.end(now)
    }

    /// Forgets the running command: recording has stopped, or only begins.
    pub fn reset(&mut self) {
        *self = Sequence::new();
    }

    fn end(&mut self, now: u64) -> Option<Ended<C>> {
        let running = self.running.take()?;
        Some(Ended { command: running.command, duration: now.saturating_sub(running.start) })
    }
}

#[cfg(test)]
mod tests {
    use lttng_testing::Random;

    use super::*;

    /// What a server may tell a module.
    #[derive(Clone, Copy, Debug)]
    enum Step {
        Begin(Caller, Option<Runs>),
        Interrupt,
        Sleep,
    }

    /// The command that step `index` began, if it was recorded: all that follows is searched for its end.
    fn by_brute_force(steps: &[Step], index: usize) -> Option<Ended<usize>> {
        let Step::Begin(Caller::Client, Some(_)) = steps[index] else { return None };
        // It began in the dark if something since the last sleep was unclear.
        let since_sleep = steps[..index].iter().rev().take_while(|step| !matches!(step, Step::Sleep));
        if since_sleep.into_iter().any(|step| matches!(step, Step::Begin(Caller::Unclear, _))) {
            return None;
        }
        let (later, end) = steps
            .iter()
            .enumerate()
            .skip(index + 1)
            .find(|(_, step)| !matches!(step, Step::Begin(Caller::Nested, _)))?;
        let is_known = !matches!(end, Step::Begin(Caller::Unclear, _));
        is_known.then_some(Ended { command: index, duration: 10 * (later - index) as u64 })
    }

    #[test]
    fn every_command_ends_where_a_search_of_all_that_follows_says() {
        let mut random = Random::new(34);
        for _ in 0..2_000 {
            let steps: Vec<Step> = (0..random.below(40))
                .map(|_| match random.below(9) {
                    0 | 1 => Step::Sleep,
                    8 => Step::Interrupt,
                    2 => Step::Begin(Caller::Nested, Some(Runs::Nothing)),
                    3 => Step::Begin(Caller::Unclear, Some(Runs::Nothing)),
                    4 => Step::Begin(Caller::Client, None),
                    5 => Step::Begin(Caller::Client, Some(Runs::Script)),
                    _ => Step::Begin(Caller::Client, Some(Runs::Nothing)),
                })
                .collect();
            let mut sequence = Sequence::new();
            let ended: Vec<_> = steps
                .iter()
                .enumerate()
                .filter_map(|(index, step)| match *step {
                    Step::Begin(caller, runs) => {
                        sequence.begin(10 * index as u64, caller, runs.map(|runs| (index, runs)))
                    }
                    Step::Interrupt => sequence.interrupt(10 * index as u64),
                    Step::Sleep => sequence.sleep(10 * index as u64),
                })
                .collect();
            let expected: Vec<_> =
                (0..steps.len()).filter_map(|index| by_brute_force(&steps, index)).collect();
            assert_eq!(ended, expected, "{steps:?}");
        }
    }

    #[test]
    fn running_command_says_what_it_may_run_until_it_ends() {
        let mut sequence = Sequence::new();
        sequence.begin(0, Caller::Client, Some(("eval", Runs::Script)));
        assert_eq!(sequence.runs(), Runs::Script);
        assert_eq!(sequence.begin(5, Caller::Nested, Some(("get", Runs::Nothing))), None);
        assert_eq!(sequence.runs(), Runs::Script);
        assert_eq!(sequence.sleep(7), Some(Ended { command: "eval", duration: 7 }));
        assert_eq!(sequence.runs(), Runs::Nothing);
    }
}
