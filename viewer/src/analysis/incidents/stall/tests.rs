use super::*;
use crate::analysis::intervals::{Interval, Nesting};
use crate::analysis::reading::passes::Passes;

const TURN: u32 = 0;
const COMMAND: u32 = 1;
const FORK: u32 = 2;
const FLUSH: u32 = 3;
const SYNC: u32 = 4;

/// The last of some intervals (kind, key, client, begin and end in microseconds), as a turn that took long.
fn stall(intervals: &[(u32, u32, Option<u32>, i64, i64)]) -> Stall {
    let mut nesting = Nesting::default();
    for &(kind, key, client, begin, end) in intervals {
        let name = IntervalName { kind, key };
        nesting.end(
            Interval { begin: begin * 1000, end: end * 1000, name, client, passes: Passes::ALL },
            |_, _| true,
        );
    }
    Stall::new(0, IncidentKind::Turn, nesting.last().expect("there are intervals"))
}

fn names(stall: &Stall) -> Vec<(u32, u32)> {
    stall.chain.iter().map(|link| (link.name.kind, link.name.key)).collect()
}

#[test]
fn the_command_of_a_client_is_the_cause_and_what_is_within_it_the_detail() {
    let stall = stall(&[
        (COMMAND, 5, Some(1), 10, 12),
        (FORK, 0, None, 120, 2550),
        (COMMAND, 7, Some(9), 100, 2600),
        (TURN, 0, None, 0, 2700),
    ]);
    assert_eq!(names(&stall), [(TURN, 0), (COMMAND, 7), (FORK, 0)]);
    assert_eq!(
        stall.cause().map(|cause| (cause.name.key, cause.client, cause.length)),
        Some((7, Some(9), 2_500_000))
    );
    assert_eq!(stall.detail().map(|detail| detail.length), Some(2_430_000));
    // The 88 µs between the two commands went into handling the second.
    assert_eq!(stall.unexplained, 2_700_000 - 2_500_000 - 88_000 - 2_000);
    assert_eq!(stall.chain[1].own, 70_000);
}

#[test]
fn without_a_client_the_innermost_is_the_cause() {
    let stall = stall(&[(SYNC, 0, None, 20, 900), (FLUSH, 0, None, 10, 920), (TURN, 0, None, 0, 1000)]);
    assert_eq!(names(&stall), [(TURN, 0), (FLUSH, 0), (SYNC, 0)]);
    assert_eq!(stall.cause().map(|cause| cause.name.kind), Some(SYNC));
    assert_eq!((stall.detail(), stall.unexplained), (None, 90_000));
}

#[test]
fn many_fast_commands_add_up_to_one_cause() {
    let mut intervals: Vec<_> =
        (0..30).map(|call| (COMMAND, 3, Some(2), call * 60, call * 60 + 50)).collect();
    intervals.push((COMMAND, 8, Some(2), 0, 2000));
    intervals.push((TURN, 0, None, 0, 2100));
    let stall = stall(&intervals);
    assert_eq!(names(&stall), [(TURN, 0), (COMMAND, 8), (COMMAND, 3)]);
    assert_eq!((stall.chain[2].count, stall.chain[2].length), (30, 1_500_000));
    assert_eq!(stall.cause().map(|cause| cause.name.key), Some(8));
}

#[test]
fn what_nothing_covers_is_unexplained() {
    let stopped = stall(&[(COMMAND, 1, Some(1), 5, 6), (TURN, 0, None, 0, 80_000)]);
    assert_eq!((names(&stopped), stopped.cause()), (vec![(TURN, 0)], None));
    assert_eq!(stopped.unexplained, 79_999_000);
    let partly = stall(&[(COMMAND, 1, Some(1), 5, 101_705), (TURN, 0, None, 0, 216_700)]);
    assert_eq!(partly.cause().map(|cause| cause.length), Some(101_700_000));
    assert_eq!(partly.unexplained, 115_000_000);
}

#[test]
fn a_loop_that_was_seen_asleep_between_its_turns_had_no_requests() {
    let silence = |seen_asleep| {
        let account = Account { asleep: 8_000, queued: 2_000, seen_asleep, ..Account::default() };
        let span = Span { begin_ns: 0, end_ns: 10_000 };
        Stall { in_gaps: Some(Box::new(account)), ..Stall::silence(0, span) }
    };
    let seen = silence(3);
    assert_eq!((seen.held_by(), seen.unaccounted()), (Some(SystemCause::Idle), 0));
    let unseen = silence(0);
    assert_eq!((unseen.held_by(), unseen.unaccounted()), (None, 8_000), "nobody looked");
}
