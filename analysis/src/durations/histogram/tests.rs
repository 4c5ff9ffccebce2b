use super::buckets::{CHUNK, CHUNKS, SPARSE_MAX};
use super::*;
use lttng_testing::Random;

const QUANTILES: [Quantile; 4] = [Quantile::P50, Quantile::P90, Quantile::P99, Quantile::P999];

fn of(values: &[u64]) -> Histogram {
    let mut histogram = Histogram::default();
    values.iter().for_each(|&value| histogram.record(value));
    histogram
}

#[test]
fn percentiles_are_within_a_thousandth_of_the_nearest_rank() {
    let mut numbers = Random::new(1);
    for round in 0..400 {
        let length = 1 + numbers.number() % 3000;
        let mut values: Vec<u64> =
            (0..length).map(|_| numbers.number() >> (1 + (numbers.number() + round) % 63)).collect();
        let histogram = of(&values);
        values.sort_unstable();
        for quantile in QUANTILES {
            let rank = (length * u64::from(quantile.part)).div_ceil(quantile.of.into());
            let exact = values[rank as usize - 1];
            let told = histogram.percentile(quantile).unwrap();
            let off = told.abs_diff(exact) as f64;
            assert!(off <= exact as f64 / 1000.0, "{quantile:?} of {length}: {told} for {exact}");
        }
        assert_eq!(histogram.count(), length);
        assert_eq!(histogram.total(), values.iter().map(|&value| u128::from(value)).sum());
        assert_eq!(histogram.min(), values.first().copied());
        assert_eq!(histogram.max(), values.last().copied());
    }
}

#[test]
fn small_values_are_exact() {
    let histogram = of(&(0..1024).collect::<Vec<_>>());
    assert!((1..=1024).all(|rank| histogram.at_rank(rank) == Some(rank - 1)));
}

#[test]
fn merging_gives_what_recording_all_gives() {
    let mut numbers = Random::new(7);
    let values: Vec<u64> = (0..5000).map(|_| numbers.number() >> (1 + numbers.number() % 60)).collect();
    for split in [0, 1, 5, 2500, 4999, 5000] {
        let (left, right) = values.split_at(split);
        let mut merged = of(left);
        merged.merge(&of(right));
        let whole = of(&values);
        assert_eq!(merged.buckets(), whole.buckets());
        assert_eq!((merged.min(), merged.max()), (whole.min(), whole.max()));
        assert_eq!((merged.count(), merged.total()), (whole.count(), whole.total()));
    }
}

#[test]
fn buckets_cover_all_plausible_values_without_a_gap() {
    let last = bucket_of(IMPLAUSIBLE - 1);
    assert!(usize::from(last) < CHUNKS * CHUNK);
    let mut next = 0;
    for index in 0..=last {
        let bucket = Bucket::new(index, 1);
        assert_eq!(bucket.low, next);
        assert_eq!((bucket_of(bucket.low), bucket_of(bucket.high)), (index, index));
        next = bucket.high + 1;
    }
    assert_eq!(next, IMPLAUSIBLE);
}

#[test]
fn an_empty_histogram_has_no_figures() {
    let empty = Histogram::default();
    assert_eq!((empty.min(), empty.max(), empty.mean()), (None, None, None));
    assert_eq!(empty.percentile(Quantile::P50), None);
}

#[test]
fn a_group_of_a_few_events_is_small() {
    let histogram = of(&[1, 2, 3, 1_000_000]);
    assert!(matches!(&histogram.buckets, Buckets::Sparse(list) if list.capacity() <= SPARSE_MAX));
    assert!(size_of::<Histogram>() <= 96);
}
