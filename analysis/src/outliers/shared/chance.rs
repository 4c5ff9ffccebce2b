//! Fisher's exact test, in logarithms.

/// The logarithm of the probability that as many slow events, or more, have a value by chance: the upper tail of the
/// hypergeometric distribution.
pub(super) fn ln_chance([slow, all_slow, others, all_others]: [u64; 4]) -> f64 {
    let (with, all) = (slow + others, all_slow + all_others);
    let most = with.min(all_slow);
    let mut ln_term =
        ln_choose(with, slow) + ln_choose(all - with, all_slow - slow) - ln_choose(all, all_slow);
    let first = ln_term;
    let mut sum = 1.0;
    for count in slow..most {
        let ratio = ((with - count) as f64 * (all_slow - count) as f64)
            / ((count + 1) as f64 * (all + count + 1 - with - all_slow) as f64);
        ln_term += ratio.ln();
        let term = (ln_term - first).exp();
        sum += term;
        if term < 1e-12 * sum && ratio < 1.0 {
            break;
        }
    }
    first + f64::ln(sum)
}

fn ln_choose(n: u64, k: u64) -> f64 {
    ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k)
}

/// The logarithm of a factorial (Stirling).
fn ln_factorial(n: u64) -> f64 {
    if n < 16 {
        return (2..=n).map(|factor| (factor as f64).ln()).sum();
    }
    let x = n as f64;
    x * x.ln() - x + 0.5 * (std::f64::consts::TAU * x).ln() + 1.0 / (12.0 * x) - 1.0 / (360.0 * x.powi(3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_are_those_of_the_hypergeometric_distribution() {
        // Of 10 events, 4 are slow and 3 have a value: all 3 are slow in 4 of 120 ways.
        let chance = ln_chance([3, 4, 0, 6]).exp();
        assert!((chance - 4.0 / 120.0).abs() < 1e-9, "{chance}");
        let at_least_one = ln_chance([1, 4, 2, 6]).exp();
        assert!((at_least_one - 100.0 / 120.0).abs() < 1e-9, "{at_least_one}");
        assert!((ln_factorial(20) - 42.335_616_46).abs() < 1e-6);
    }
}
