use super::*;
use crate::intervals::IntervalName;
use crate::reading::passes::Passes;

fn interval(kind: u32, begin: i64, end: i64) -> Interval {
    Interval { begin, end, name: IntervalName { kind, key: 0 }, client: None, passes: Passes::ALL }
}

/// The forest as text: `5(1 2(3))`, the kinds in the order of their ends.
fn shape(nesting: &Nesting) -> String {
    fn write(tree: Tree<'_>) -> String {
        let mut children: Vec<String> = tree.children().map(write).collect();
        children.reverse();
        let node = tree.root();
        let count = if node.count > 1 { format!("×{}", node.count) } else { String::new() };
        match children.is_empty() {
            true => format!("{}{count}", node.interval.name.kind),
            false => format!("{}{count}({})", node.interval.name.kind, children.join(" ")),
        }
    }
    let mut trees: Vec<String> = nesting.trees().map(write).collect();
    trees.reverse();
    trees.join(" ")
}

/// The forest of intervals with these kinds and times, in thousands.
fn forest(intervals: &[(u32, i64, i64)]) -> String {
    let mut nesting = Nesting::default();
    for &(kind, begin, end) in intervals {
        nesting.end(interval(kind, begin * 1000, end * 1000), |_, _| true);
    }
    shape(&nesting)
}

#[test]
fn an_interval_contains_what_began_and_ended_within_it() {
    assert_eq!(forest(&[(1, 10, 20), (2, 30, 40), (3, 25, 50), (4, 0, 60)]), "4(1 3(2))");
    assert_eq!(forest(&[(1, 10, 20), (2, 30, 40)]), "1 2");
}

#[test]
fn touching_intervals_are_neighbours() {
    assert_eq!(forest(&[(1, 100, 200), (2, 200, 300), (3, 300, 400)]), "1 2 3");
}

#[test]
fn of_equal_intervals_the_later_event_is_the_outer_one() {
    assert_eq!(forest(&[(1, 100, 200), (2, 100, 200), (3, 100, 200)]), "3(2(1))");
}

#[test]
fn durations_in_whole_microseconds_do_not_tear_a_parent_from_its_child() {
    assert_eq!(forest(&[(1, 99, 200), (2, 100, 201)]), "2(1)");
    assert_eq!(forest(&[(1, 98, 98), (2, 100, 201)]), "1 2");
    assert_eq!(forest(&[(1, 100, 100), (2, 100, 201)]), "2(1)");
}

#[test]
fn of_crossing_intervals_the_larger_part_decides() {
    assert_eq!(forest(&[(1, 50, 200), (2, 100, 300)]), "2(1)", "100 of 150 are within");
    assert_eq!(forest(&[(1, 50, 130), (2, 100, 300)]), "1 2", "30 of 80 are within");
}

#[test]
fn what_is_not_allowed_to_be_within_stays_apart() {
    let mut nesting = Nesting::default();
    let odd_in_even = |outer: &Interval, inner: &Interval| {
        outer.name.kind.is_multiple_of(2) && !inner.name.kind.is_multiple_of(2)
    };
    for (kind, begin, end) in [(1, 10, 20), (2, 12, 30), (3, 32, 40), (4, 5, 50)] {
        nesting.end(interval(kind, begin * 1000, end * 1000), odd_in_even);
    }
    assert_eq!(shape(&nesting), "2(1) 4(3)");
}

#[test]
fn what_is_not_covered_is_self_time() {
    let mut nesting = Nesting::default();
    for (kind, begin, end) in [(1, 10, 20), (2, 15, 25), (3, 40, 50), (4, 0, 100)] {
        nesting.end(interval(kind, begin * 1000, end * 1000), |outer, _| outer.name.kind == 4);
    }
    let tree = nesting.last().unwrap();
    assert_eq!(tree.covered(), 25_000, "1 and 2 overlap");
    assert_eq!(tree.root().interval.length() - tree.covered(), 75_000);
}

#[test]
fn many_calls_within_one_are_folded_and_none_is_lost() {
    let mut nesting = Nesting::default();
    for call in 0..200_000_i64 {
        nesting.end(interval(1 + (call % 2) as u32, call * 10_000, call * 10_000 + 5_000), |_, _| true);
    }
    nesting.end(interval(9, 0, 2_000_000_000), |_, _| true);
    let tree = nesting.last().unwrap();
    let counts: u32 = tree.children().map(|child| child.root().count).sum();
    assert!(nesting.nodes.len() < 100, "{}", nesting.nodes.len());
    // What was forgotten is said.
    assert!(counts == 200_000 || nesting.is_incomplete_since(0), "{counts}");
    assert!(!nesting.is_incomplete_since(1_999_999_000));
}

#[test]
fn runs_of_one_name_are_folded_before_anything_is_forgotten() {
    let mut nesting = Nesting::default();
    for call in 0..200_000_i64 {
        nesting.end(interval(1, call * 10_000, call * 10_000 + 5_000), |_, _| true);
    }
    nesting.end(interval(9, 0, 2_000_000_000), |_, _| true);
    let tree = nesting.last().unwrap();
    assert_eq!(tree.children().map(|child| child.root().count).sum::<u32>(), 200_000);
    assert_eq!(tree.covered(), 1_000_000_000);
    assert!(!nesting.is_incomplete_since(0));
}

/// Pairs of neighbours have the same name, and half of them are within another one.
#[test]
fn of_too_many_names_the_last_are_remembered() {
    let mut nesting = Nesting::default();
    let most = MOST as i64;
    for number in 0..3 * most {
        let begin = if number % 4 == 3 { number - 1 } else { number } * 1000;
        nesting.end(interval((number / 2 % 5) as u32, begin, number * 1000 + 900), |_, _| true);
        assert!(nesting.nodes.len() <= MOST);
    }
    let kinds: Vec<u32> = nesting.trees().map(|tree| tree.root().interval.name.kind).collect();
    assert!(
        kinds.len() > MOST / 4
            && kinds.is_sorted_by(|later, earlier| (later + 4) % 5 == earlier % 5 || later == earlier)
    );
    let oldest = nesting.trees().last().map(|tree| tree.root().interval.begin).unwrap();
    assert!(nesting.is_incomplete_since(oldest - 2000) && !nesting.is_incomplete_since(oldest));
}

/// Random forests are built from the outside in, flattened by their ends, and must come back.
#[test]
fn random_forests_come_back() {
    fn grow(
        random: &mut fastrand::Rng,
        begin: i64,
        end: i64,
        kind: &mut u32,
        out: &mut Vec<Interval>,
    ) -> String {
        let mut children = Vec::new();
        let mut at = begin + 10_000 + random.i64(0..20_000);
        while children.len() < 5 && at + 30_000 < end - 10_000 && random.u8(..) < 200 {
            let length = random.i64(20_000..(end - 10_000 - at).max(20_001));
            children.push(grow(random, at, at + length, kind, out));
            at += length + 10_000 + random.i64(0..20_000);
        }
        *kind += 1;
        out.push(interval(*kind, begin, end));
        match children.is_empty() {
            true => kind.to_string(),
            false => format!("{kind}({})", children.join(" ")),
        }
    }
    for seed in 0..300 {
        let random = &mut fastrand::Rng::with_seed(seed);
        let (mut kind, mut intervals, mut trees) = (0, Vec::new(), Vec::new());
        for tree in 0..random.i64(1..6) {
            let (begin, end) = (tree * 2_000_000, tree * 2_000_000 + random.i64(50_000..1_900_000));
            trees.push(grow(random, begin, end, &mut kind, &mut intervals));
        }
        let mut nesting = Nesting::default();
        intervals.sort_by_key(|interval| interval.end);
        for interval in &intervals {
            nesting.end(*interval, |_, _| true);
        }
        assert_eq!(shape(&nesting), trees.join(" "), "seed {seed}");
    }
}

/// What intervals below a root cover, and the gaps between them, beside every moment looked at by itself.
#[test]
fn any_cover_and_gaps_are_those_of_each_moment() {
    const MOMENT: i64 = 10_000;
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let random = &mut fastrand::Rng::with_seed(seed);
    let (mut gaps, mut folded_ones) = (0, 0);
    for _ in 0..2000 {
        let (length, children) = (random.i64(1..60), random.usize(0..20));
        let time = |moment: i64| moment * MOMENT;
        let mut ends: Vec<i64> = (0..children).map(|_| random.i64(-2..length + 3)).collect();
        ends.sort_unstable();
        let mut nesting = Nesting::default();
        for end in ends {
            let begin = end - random.i64(0..15);
            let client = random.bool().then_some(random.u32(0..3));
            let child = Interval { client, ..interval(random.u32(1..4), time(begin), time(end)) };
            let contains = random.u8(..) < 30;
            nesting.end(child, |_, _| contains);
            if random.u8(..) < 20 {
                nesting.make_room(8);
            }
        }
        nesting.end(interval(9, 0, time(length)), |_, _| true);

        let tree = nesting.last().unwrap();
        let (single, folded): (Vec<&Node>, Vec<&Node>) = tree.below().partition(|node| node.count == 1);
        let is_in =
            |node: &&Node, moment: i64| node.begin() <= time(moment) && time(moment) < node.interval.end;
        let moments = || 0..length;
        let covered = moments().filter(|moment| single.iter().any(|node| is_in(node, *moment))).count();
        let in_folded: i64 = folded.iter().map(|node| node.spent()).sum();
        assert_eq!(tree.covered(), time(length).min(time(covered as i64) + in_folded), "{tree:?}");

        let is_free = |moment: &i64| !tree.below().any(|node| is_in(&node, *moment));
        // Something that takes no time is a moment at which something was done.
        let is_event = |moment: i64| tree.below().any(|node| node.interval.end == moment);
        let mut expected: Vec<Span> = Vec::new();
        for moment in moments().filter(is_free).map(time) {
            match expected.last_mut() {
                Some(gap) if gap.end_ns == moment && !is_event(moment) => gap.end_ns = moment + MOMENT,
                _ => expected.push(Span { begin_ns: moment, end_ns: moment + MOMENT }),
            }
        }
        expected.sort_by_key(|gap| (Reverse(gap.length_ns()), gap.begin_ns));
        let most = random.usize(0..5);
        expected.truncate(most);
        assert_eq!(tree.gaps(most), expected, "{tree:?}");
        (gaps, folded_ones) = (gaps + expected.len(), folded_ones + folded.len());
    }
    assert!(gaps > 1000 && folded_ones > 100, "{gaps} gaps, {folded_ones} folded");
}

/// Whatever is folded or forgotten, the roots that are kept stand for the last ones, and it is said since when.
#[test]
fn what_is_kept_stands_for_the_last_roots() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let random = &mut fastrand::Rng::with_seed(seed);
    let (mut folded_ones, mut dropped) = (0, 0);
    for _ in 0..300 {
        let (names, most) = (random.u32(1..20), random.usize(16..100));
        let nested = [0, 20, 120][random.usize(..3)];
        let (mut all, mut kept, mut ends) = (Nesting::default(), Nesting::default(), vec![0]);
        // What was folded is not within anything later.
        let mut folded_at = 0;
        for _ in 0..random.usize(0..2000) {
            let end = ends[ends.len() - 1] + random.i64(1..10) * 1000;
            // Now and then it contains some of the last ones.
            let since = if random.u8(..) < nested { random.usize(1..5) } else { 0 };
            let begin = ends[(ends.len() - 1).saturating_sub(since).max(folded_at)] + 500;
            let client = random.bool().then_some(random.u32(0..2));
            let ended = Interval { client, ..interval(random.u32(..names), begin, end) };
            ends.push(end);
            all.end(ended, |_, _| true);
            kept.end(ended, |_, _| true);
            kept.count_foldable();
            if kept.len() > most {
                let before = kept.len();
                kept.make_room(most);
                assert!(kept.len() <= most, "{} of {before}, {most}", kept.len());
                dropped += usize::from(kept.len() > most / 2 && kept.foldable > 0);
                folded_at = ends.len() - 1;
            }
        }
        let mut expected = all.trees().map(|tree| *tree.root());
        for node in kept.trees().map(|tree| *tree.root()) {
            let of_it: Vec<Node> = expected.by_ref().take(node.count as usize).collect();
            assert_eq!(of_it.len(), node.count as usize);
            assert!(of_it.iter().all(|one| one.interval.is_like(&node.interval)));
            let span = (of_it[of_it.len() - 1].interval.begin, of_it[0].interval.end);
            assert_eq!(span, (node.interval.begin, node.interval.end));
            assert_eq!(of_it.iter().map(|one| one.busy).sum::<i64>(), node.busy);
            folded_ones += usize::from(node.count > 1);
        }
        assert_eq!(kept.lost_before, expected.next().map(|node| node.interval.end));
    }
    assert!(folded_ones > 100 && dropped > 100, "{folded_ones} folded, {dropped} dropped");
}
