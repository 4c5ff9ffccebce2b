use super::*;

/// Numbers between 0 and 1, the same on every run.
struct Uniform(u64);

impl Uniform {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * self.next().ln()).sqrt() * (std::f64::consts::TAU * self.next()).cos()
    }
}

fn histogram(values: impl IntoIterator<Item = u64>) -> Histogram {
    let mut histogram = Histogram::default();
    values.into_iter().for_each(|value| histogram.record(value));
    histogram
}

/// How many durations of a group are outliers of it.
fn outliers(values: &[u64]) -> usize {
    let own = histogram(values.iter().copied());
    let judged = Rule::default().judge(&own, &own, TimeUnit::Microseconds).expect("there are enough");
    values.iter().filter(|&&value| value > judged.limit).count()
}

#[test]
fn healthy_groups_of_any_shape_have_hardly_any_outliers() {
    let mut uniform = Uniform(42);
    let count = 200_000;
    let mut shape = |name: &str, mut draw: Box<dyn FnMut(&mut Uniform) -> f64>| {
        let values: Vec<u64> = (0..count).map(|_| draw(&mut uniform) as u64).collect();
        let found = outliers(&values);
        // Well under 0.1 %, which would be 200.
        assert!(found <= 50, "{name}: {found} of {count}");
    };
    shape("exponential", Box::new(|u| -1000.0 * u.next().ln()));
    shape("uniform", Box::new(|u| 1000.0 * u.next()));
    shape("log-normal", Box::new(|u| (5.0 + u.normal()).exp()));
    shape("wide log-normal", Box::new(|u| (5.0 + 2.0 * u.normal()).exp()));
    shape("power law", Box::new(|u| 100.0 * u.next().powf(-0.5)));
    shape("mostly 0 and 1", Box::new(|u| -0.4 * u.next().ln()));
    shape(
        "two modes",
        Box::new(|u| if u.next() < 0.03 { 5000.0 - 300.0 * u.next().ln() } else { 2.0 * u.next() }),
    );
}

#[test]
fn a_stall_among_zeros_and_ones_is_found() {
    let mut values: Vec<u64> = (0..50_000).map(|n| n % 2).collect();
    values.push(24_000);
    assert_eq!(outliers(&values), 1);
}

#[test]
fn delays_below_the_least_excess_are_not_worth_a_line() {
    let mut values: Vec<u64> = vec![0; 50_000];
    values.push(40);
    assert_eq!(outliers(&values), 0);
}

#[test]
fn stalls_do_not_hide_one_another() {
    let mut values: Vec<u64> = (0..10_000).map(|n| 10 + n % 5).collect();
    values.extend((0..10).map(|n| 100_000 + 1000 * n));
    assert_eq!(outliers(&values), 10);
}

#[test]
fn a_group_seen_once_is_judged_by_all_of_its_event() {
    let rule = Rule::default();
    let pool = histogram((0..10_000).map(|n| n % 6).chain([106_000]));
    let judged = rule.judge(&histogram([106_000]), &pool, TimeUnit::Microseconds).unwrap();
    assert_eq!((judged.basis, judged.seen, judged.compared_with), (Basis::Pooled, 1, 10_001));
    assert!(judged.limit < 106_000);
    assert_eq!((judged.quantile, judged.at_quantile), (Quantile::P999, 5));
}

#[test]
fn a_group_that_is_always_slow_is_no_outlier_of_itself() {
    let rule = Rule::default();
    let own = histogram((0..200).map(|n| 5000 + n));
    let pool = histogram((0..10_000).map(|n| n % 6).chain((0..200).map(|n| 5000 + n)));
    let judged = rule.judge(&own, &pool, TimeUnit::Microseconds).unwrap();
    assert_eq!(judged.basis, Basis::Own);
    assert!(judged.limit > 5200);
}

#[test]
fn a_few_durations_are_judged_by_their_median_and_fewer_not_at_all() {
    let rule = Rule::default();
    let few = histogram([38, 41, 180, 183, 190, 32_606]);
    let judged = rule.judge(&few, &few, TimeUnit::Microseconds).unwrap();
    assert_eq!((judged.basis, judged.at_quantile), (Basis::Median, 180));
    assert!((1_000..32_606).contains(&judged.limit));
    let fewer = histogram([1, 2, 3, 1_000_000]);
    assert_eq!(rule.judge(&fewer, &fewer, TimeUnit::Microseconds), None);
}

#[test]
fn higher_sensitivity_lowers_the_limit() {
    let group = histogram((0..20_000).map(|n| n % 100));
    let limit = |probability| {
        let rule = Rule { probability, least_excess_ns: 0 };
        rule.judge(&group, &group, TimeUnit::Microseconds).unwrap().limit
    };
    assert!(limit(1e-4) < limit(1e-6));
    assert!(limit(1e-6) < limit(1e-9));
}
