use super::*;
use crate::analysis::intervals::Nesting;

const TURN: u32 = 0;
const COMMAND: u32 = 1;
const FORK: u32 = 2;
const FLUSH: u32 = 3;
const SYNC: u32 = 4;

/// The last of some intervals (kind, key, client, begin and end in microseconds), as a turn that took long.
fn held(intervals: &[(u32, u32, Option<u32>, i64, i64)]) -> Held {
    let mut nesting = Nesting::default();
    for &(kind, key, client, begin, end) in intervals {
        let name = IntervalName { kind, key };
        nesting.end(Interval { begin: begin * 1000, end: end * 1000, name, client }, |_, _| true);
    }
    Held::new(0, Sort::Turn, nesting.last().expect("there are intervals"))
}

fn names(held: &Held) -> Vec<(u32, u32)> {
    held.chain.iter().map(|link| (link.name.kind, link.name.key)).collect()
}

#[test]
fn the_command_of_a_client_is_the_cause_and_what_is_within_it_the_detail() {
    let held = held(&[
        (COMMAND, 5, Some(1), 10, 12),
        (FORK, 0, None, 120, 2550),
        (COMMAND, 7, Some(9), 100, 2600),
        (TURN, 0, None, 0, 2700),
    ]);
    assert_eq!(names(&held), [(TURN, 0), (COMMAND, 7), (FORK, 0)]);
    assert_eq!(
        held.cause().map(|cause| (cause.name.key, cause.client, cause.length)),
        Some((7, Some(9), 2_500_000))
    );
    assert_eq!(held.detail().map(|detail| detail.length), Some(2_430_000));
    assert_eq!(held.unexplained, 2_700_000 - 2_500_000 - 2_000);
    assert_eq!(held.chain[1].own, 70_000);
}

#[test]
fn without_a_client_the_innermost_is_the_cause() {
    let held = held(&[(SYNC, 0, None, 20, 900), (FLUSH, 0, None, 10, 920), (TURN, 0, None, 0, 1000)]);
    assert_eq!(names(&held), [(TURN, 0), (FLUSH, 0), (SYNC, 0)]);
    assert_eq!(held.cause().map(|cause| cause.name.kind), Some(SYNC));
    assert_eq!((held.detail(), held.unexplained), (None, 90_000));
}

#[test]
fn many_fast_commands_add_up_to_one_cause() {
    let mut intervals: Vec<_> =
        (0..30).map(|call| (COMMAND, 3, Some(2), call * 60, call * 60 + 50)).collect();
    intervals.push((COMMAND, 8, Some(2), 0, 2000));
    intervals.push((TURN, 0, None, 0, 2100));
    let held = held(&intervals);
    assert_eq!(names(&held), [(TURN, 0), (COMMAND, 8), (COMMAND, 3)]);
    assert_eq!((held.chain[2].count, held.chain[2].length), (30, 1_500_000));
    assert_eq!(held.cause().map(|cause| cause.name.key), Some(8));
}

#[test]
fn what_nothing_covers_is_unexplained() {
    let stopped = held(&[(COMMAND, 1, Some(1), 5, 6), (TURN, 0, None, 0, 80_000)]);
    assert_eq!((names(&stopped), stopped.cause()), (vec![(TURN, 0)], None));
    assert_eq!(stopped.unexplained, 79_999_000);
    let partly = held(&[(COMMAND, 1, Some(1), 5, 101_705), (TURN, 0, None, 0, 216_700)]);
    assert_eq!(partly.cause().map(|cause| cause.length), Some(101_700_000));
    assert_eq!(partly.unexplained, 115_000_000);
}

#[test]
fn the_innermost_that_took_almost_all_of_the_time_tells_most() {
    let interval =
        |kind, begin, end| Interval { begin, end, name: IntervalName { kind, key: 0 }, client: None };
    let (turn, command, sync) =
        (interval(TURN, 0, 1000), interval(COMMAND, 20, 990), interval(SYNC, 30, 400));
    let kind = |begin, end| {
        let told = Span { begin, end }.most_telling(turn, [sync, command, turn].into_iter());
        told.name.kind
    };
    assert_eq!(kind(0, 1000), COMMAND);
    assert_eq!(kind(100, 300), SYNC);
    assert_eq!(kind(0, 30), TURN);
    assert_eq!(Span { begin: 0, end: 10 }.most_telling(turn, std::iter::empty()), turn);
}

#[test]
fn what_ran_meanwhile_is_named_once_for_each_thread() {
    let interval =
        |begin, end| Interval { begin, end, name: IntervalName { kind: COMMAND, key: 0 }, client: None };
    let ran = |thread, begin, end| Meanwhile::Interval { thread, interval: interval(begin, end) };
    let mut held = Held::silence(0, Span { begin: 100, end: 200 });
    held.meanwhile
        .extend([Meanwhile::Process { process: 5, events: 3 }, Meanwhile::Process { process: 6, events: 2 }]);
    held.ran_meanwhile(ran(1, 150, 180), 5, 2);
    assert_eq!(held.meanwhile, [ran(1, 150, 180), Meanwhile::Process { process: 6, events: 2 }]);
    held.ran_meanwhile(ran(1, 10, 300), 5, 2);
    held.ran_meanwhile(ran(1, 0, 1000), 5, 2);
    assert_eq!(held.meanwhile[0], ran(1, 10, 300), "the innermost that covers all of it");
    held.ran_meanwhile(ran(2, 0, 400), 5, 2);
    held.ran_meanwhile(ran(3, 0, 500), 5, 2);
    assert_eq!(held.meanwhile.len(), 3, "two threads and a process");
}
