use super::samples::{Drawn, LENGTH_NS, Random, SHAPES, Shape, found, healthy, p999};

#[derive(Clone, Copy, Debug)]
pub enum Planted {
    Stalls { count: usize, times: u64 },
    Second,
    Shift(f64),
}

pub fn plant(planted: Planted, events: &mut Vec<Drawn>, random: &mut Random) {
    let p999 = p999(events).max(1);
    match planted {
        Planted::Stalls { count, times } => {
            for _ in 0..count {
                let time_ns = (random.uniform() * LENGTH_NS) as i64;
                let duration_us = (p999 * times) as f64 * (1.0 + 0.2 * random.uniform());
                events.push(Drawn { time_ns, duration_us: duration_us as u64, is_planted: true });
            }
        }
        Planted::Second => {
            for _ in 0..events.len() / 50 {
                let time_ns = (30e9 + random.uniform() * 1e9) as i64;
                events.push(Drawn { time_ns, duration_us: p999 * 10, is_planted: true });
            }
        }
        Planted::Shift(factor) => {
            for event in events.iter_mut().filter(|event| event.time_ns as f64 > LENGTH_NS * 0.6) {
                event.duration_us = ((event.duration_us as f64 + 0.5) * factor) as u64;
                event.is_planted = true;
            }
        }
    }
}

#[test]
#[ignore]
fn explore() {
    let seeds: u64 = std::env::var("SEEDS").map_or(10, |s| s.parse().unwrap());
    let sizes: Vec<usize> = std::env::var("SIZES").map_or(vec![50, 100, 300, 1000, 10_000, 100_000], |s| {
        s.split(',').map(|s| s.parse().unwrap()).collect()
    });
    let only = std::env::var("ONLY").unwrap_or_default();
    for Shape { name, draw } in SHAPES.iter().filter(|s| s.name.contains(&only)) {
        let shape = Shape { name, draw: *draw };
        for &size in &sizes {
            let (mut max, mut with) = (0, 0);
            let mut ex = String::new();
            for seed in 0..seeds {
                let mut random = Random::new(1000 * seed + size as u64);
                let f = found(&healthy(&shape, size, &mut random));
                max = max.max(f.lines);
                with += u64::from(f.lines > 0);
                if f.lines > 0 && ex.is_empty() {
                    ex = format!(
                        "s{} {:?} {:?}",
                        f.judged.singles,
                        f.judged.modes.iter().map(|m| &m.reason).collect::<Vec<_>>(),
                        f.judged.periods.iter().map(|p| (p.spans.len(), &p.reason)).collect::<Vec<_>>()
                    );
                }
            }
            print!("{name:24} {size:8} healthy: {with}/{seeds} max {max} |");
            for planted in [
                Planted::Stalls { count: 1, times: 10 },
                Planted::Stalls { count: 1, times: 100 },
                Planted::Stalls { count: 5, times: 10 },
                Planted::Stalls { count: 50, times: 10 },
                Planted::Stalls { count: 50, times: 100 },
                Planted::Stalls { count: 1000, times: 10 },
                Planted::Second,
                Planted::Shift(2.0),
                Planted::Shift(3.0),
                Planted::Shift(10.0),
            ] {
                if let Planted::Stalls { count, .. } = planted
                    && count * 10 > size
                {
                    print!("    -    ");
                    continue;
                }
                let (mut recall, mut precision) = (0.0, 0.0);
                for seed in 0..seeds {
                    let mut random = Random::new(1000 * seed + size as u64 + 7);
                    let mut events = healthy(&shape, size, &mut random);
                    plant(planted, &mut events, &mut random);
                    let f = found(&events);
                    recall += f.recall() / seeds as f64;
                    precision += f.precision() / seeds as f64;
                }
                print!(" {:3.0}/{:3.0} ", recall * 100.0, precision * 100.0);
            }
            println!(" {ex}");
        }
    }
}
