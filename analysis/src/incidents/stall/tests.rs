use super::*;
use crate::intervals::{Interval, Nesting};
use crate::reading::passes::Passes;

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

fn extent(least: i64, most: i64) -> Extent {
    Extent { least: least * 1000, most: most * 1000 }
}

/// A turn of 10 ms with a command of 1 ms, and what the scheduler did with the rest.
fn settled(account: Account, commands: &[(u32, u32, Option<u32>, i64, i64)]) -> Stall {
    let turn = (TURN, 0, None, 0, 10_000);
    let mut stall = stall(&commands.iter().copied().chain([turn]).collect::<Vec<_>>());
    stall.in_gaps = Some(Box::new(Account { length: stall.unexplained, ..account }));
    stall.choose_cause();
    stall
}

#[test]
fn the_headline_is_the_largest_part_that_is_sure() {
    let command = [(COMMAND, 1, Some(1), 0, 1_000)];
    let queued = settled(Account { queued: extent(8_000, 9_000), ..Account::default() }, &command);
    assert_eq!((queued.cause(), queued.held_by().map(|(cause, _)| cause)), (None, Some(SystemCause::Queued)));
    assert_eq!(queued.unaccounted(), 1_000_000);
    // It ran: what it did after the last request is that request's.
    let ran = settled(Account { on_cpu: extent(9_000, 9_000), ..Account::default() }, &command);
    assert_eq!(
        (ran.cause().map(|link| link.client), ran.beside),
        (Some(Some(1)), Some((Side::After, 9_000_000)))
    );
    let read = settled(Account::default(), &[(COMMAND, 1, Some(1), 9_000, 9_900)]);
    assert_eq!(read.beside, Some((Side::Before, 9_100_000)));
    let seldom = settled(Account { queued: extent(200, 9_000), ..Account::default() }, &command);
    assert!(seldom.is_sampled_too_seldom() && !queued.is_sampled_too_seldom());
    assert_eq!(seldom.held_by(), None, "too little of it is sure");
}

#[test]
fn a_command_without_a_cpu_is_not_the_cause() {
    let command = [(COMMAND, 1, Some(1), 0, 9_900)];
    let kept = |queued| {
        let mut stall = settled(Account::default(), &command);
        stall.account = Some(Box::new(Account { queued, length: 10_000_000, ..Account::default() }));
        stall.choose_cause();
        (stall.cause().and_then(|link| link.client), stall.held_by())
    };
    let most = extent(5_100, 9_000);
    assert_eq!(kept(most), (None, Some((SystemCause::Queued, most))), "the command ran for less");
    assert_eq!(kept(extent(4_000, 9_000)), (Some(1), None), "the command may have run for longer");
}

#[test]
fn a_loop_that_sleeps_between_its_turns_is_not_held_by_that() {
    let account =
        Account { asleep: extent(8, 8), queued: extent(2, 2), length: 10_000, ..Account::default() };
    let span = Span { begin_ns: 0, end_ns: 10_000 };
    let silence = Stall { in_gaps: Some(Box::new(account)), ..Stall::silence(0, span) };
    assert_eq!((silence.held_by(), silence.unaccounted()), (None, 8_000));
}

/// To look for the request beside what nothing explains takes long, so that is done only where it may be to blame.
#[test]
fn the_request_beside_a_gap_is_found_wherever_it_may_be_to_blame() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let random = &mut fastrand::Rng::with_seed(seed);
    let (mut blamed, mut spared) = (0, 0);
    for _ in 0..3000 {
        let (mut nesting, mut end) = (Nesting::default(), 0);
        let interval = |begin: i64, end: i64, kind, client| {
            let name = IntervalName { kind, key: 0 };
            Interval { begin: begin * 1000, end: end * 1000, name, client, passes: Passes::ALL }
        };
        let longest = [20, 300, 3000][random.usize(..3)];
        for _ in 0..random.usize(1..12) {
            end += random.i64(0..800);
            let begin = (end - random.i64(0..longest)).max(0);
            let client = random.bool().then(|| random.u32(..3));
            nesting.end(interval(begin, end, random.u32(1..4), client), |_, _| true);
        }
        end += random.i64(1..800);
        nesting.end(interval(0, end, TURN, None), |_, _| true);
        let tree = nesting.last().unwrap();
        let found = Stall::new(0, IncidentKind::Turn, tree);
        let neighbour = found.gaps.first().and_then(|gap| tree.neighbour(*gap));
        spared += i32::from(found.neighbour != neighbour);
        let mut stalls = [Stall { neighbour, ..found.clone() }, found];
        if random.bool() {
            let sum = interval(0, random.i64(0..end), SYNC, None);
            stalls.iter_mut().for_each(|stall| stall.add_sum(&sum));
        }
        if random.bool() {
            let (queued, stopped) = (random.i64(0..end), random.i64(0..end));
            let length = stalls[0].unexplained.max(1);
            let account = Account {
                queued: extent(queued / 2, queued),
                stopped: extent(stopped / 4, stopped),
                length,
                ..Account::default()
            };
            let of_all = random.bool().then(|| Box::new(account.clone()));
            for stall in &mut stalls {
                (stall.in_gaps, stall.account) = (Some(Box::new(account.clone())), of_all.clone());
            }
        }
        assert_eq!(stalls[0].culprit(), stalls[1].culprit());
        let [always, here] = stalls.map(|mut stall| {
            stall.choose_cause();
            (stall.cause().copied(), stall.chain, stall.beside, stall.kept.map(|(cause, _)| cause))
        });
        blamed += i32::from(always.2.is_some());
        assert_eq!(always, here);
    }
    assert!(blamed > 100 && spared > 100, "{blamed} blamed, {spared} spared");
}
