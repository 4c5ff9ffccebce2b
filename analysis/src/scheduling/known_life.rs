//! Threads whose life is known, sampled as `/proc` shows it: what is said of them must hold.

use super::account::{Account, AccountSource};
use super::history::{History, NEARLY, Point};
use crate::finding::Span;
use crate::samples::ThreadSample;
use fastrand::Rng;

const MS: i64 = 1_000_000;

/// What a thread does for some time.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Doing {
    Runs,
    Waits,
    Sleeps,
}

/// A life, from 0 on: each part with its end.
struct Life(Vec<(Doing, i64)>);

impl Life {
    fn new(random: &mut Rng) -> Life {
        // Some hardly sleep, some hardly wait; and times of all lengths.
        let (sleepiness, crowd) = (random.f64(), random.f64());
        let longest = MS << random.u8(0..7);
        let (mut parts, mut time, mut doing) = (Vec::new(), 0, Doing::Runs);
        while time < 400 * MS {
            time += 1000 + (random.f64().powi(3) * longest as f64) as i64;
            parts.push((doing, time));
            doing = match doing {
                Doing::Runs if random.f64() < sleepiness => Doing::Sleeps,
                Doing::Runs => Doing::Waits,
                Doing::Sleeps if random.f64() < crowd => Doing::Waits,
                Doing::Waits | Doing::Sleeps => Doing::Runs,
            };
        }
        Life(parts)
    }

    /// The time of a span in which it did this.
    fn spent(&self, doing: Doing, span: Span) -> i64 {
        let mut begin_ns = 0;
        let parts = self.0.iter().map(|&(part, end_ns)| {
            let part_span = Span { begin_ns: std::mem::replace(&mut begin_ns, end_ns), end_ns };
            if part == doing { part_span.overlap_ns(span) } else { 0 }
        });
        parts.sum()
    }

    /// The totals that the kernel has counted: waits when they end, the time on a CPU at each tick and when it ends.
    fn counted(&self, time: i64, tick: i64) -> Point {
        let (mut on_cpu, mut queued, mut begin) = (0, 0, 0);
        let length = |time: i64| u64::try_from(time).unwrap_or(0);
        for &(doing, end) in &self.0 {
            match doing {
                Doing::Runs if end <= time => on_cpu += length(end - begin),
                Doing::Runs => on_cpu += length(time / tick * tick - begin),
                Doing::Waits if end <= time => queued += length(end - begin),
                Doing::Waits | Doing::Sleeps => {}
            }
            if end > time {
                let state = if doing == Doing::Sleeps { b'S' } else { b'R' };
                let sample =
                    ThreadSample { on_cpu_ns: on_cpu, queued_ns: queued, state, ..ThreadSample::default() };
                return Point::of_sample(time, &sample);
            }
            begin = end;
        }
        unreachable!("it is looked at while it lives")
    }
}

/// A history as the sampler writes it: not all states are read, and nothing where nothing changed.
fn sampled(life: &Life, random: &mut Rng) -> History {
    let (mut history, mut time, mut last_look) = (History::default(), 0, 0);
    let (tick, pace) = ([1, 4][random.usize(0..2)] * MS, random.i64(1..30) * MS);
    let mut last: Option<Point> = None;
    let mut is_state_old = true;
    while time < 390 * MS {
        let mut point = life.counted(time, tick);
        let is_unchanged =
            last.is_some_and(|last| (last.on_cpu, last.queued) == (point.on_cpu, point.queued));
        if !is_unchanged || is_state_old {
            is_state_old = !is_unchanged;
            if !is_unchanged && random.bool() {
                point.state = 0;
            }
            history.stay(last_look);
            history.push(point, 1000);
        }
        (last, last_look) = (Some(point), time);
        time += pace / 2 + random.i64(0..pace);
    }
    history
}

/// The bounds of each part, around what it was.
fn parts(life: &Life, account: &Account, span: Span) -> [(i64, i64, i64); 3] {
    let [runs, waits, sleeps] =
        [Doing::Runs, Doing::Waits, Doing::Sleeps].map(|doing| life.spent(doing, span));
    [
        (account.on_cpu.least, runs, account.on_cpu.most),
        (account.queued.least, waits, account.queued.most),
        (account.asleep.least, sleeps, account.asleep.most),
    ]
}

#[test]
fn bounds_hold_what_happened() {
    let seed = fastrand::u64(..);
    let random = &mut Rng::with_seed(seed);
    let (mut asked, mut wrong, mut width) = (0, 0, 0.0);
    for _ in 0..100 {
        let life = Life::new(random);
        let history = sampled(&life, random);
        for _ in 0..20 {
            let begin_ns = random.i64(0..300 * MS);
            // What is not told after the last sample cannot be known.
            let end_ns = (begin_ns + random.i64(1000..80 * MS)).min(history.latest());
            let span = Span { begin_ns, end_ns };
            if span.length_ns() <= 0 {
                continue;
            }
            let account = history.account(span, AccountSource::Samples).expect("it is known");
            for (least, truth, most) in parts(&life, &account, span) {
                assert!(0 <= least && least <= most && most <= span.length_ns(), "seed {seed}: {account:?}");
                asked += 1;
                wrong += i32::from(truth < least - NEARLY || most + NEARLY < truth);
                width += (most - least) as f64 / span.length_ns() as f64;
            }
        }
    }
    // But for coincidences.
    assert!(wrong * 200 <= asked, "seed {seed}: {wrong} of {asked} do not hold");
    // They say something: all or nothing would hold, too.
    assert!(width < 0.5 * f64::from(asked), "seed {seed}: {width} of {asked}");
}
