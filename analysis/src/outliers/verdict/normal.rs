//! The upper tail of the normal distribution, far out.

use std::f64::consts::{PI, SQRT_2};

/// The logarithm of the probability of a value above `z`.
pub fn ln_tail(z: f64) -> f64 {
    if z > 6.0 {
        // Asymptotic; the next term is below 1e-4 here.
        let z2 = z * z;
        return -z2 / 2.0 - z.ln() - (2.0 * PI).ln() / 2.0 + (1.0 - 1.0 / z2 + 3.0 / (z2 * z2)).ln();
    }
    (0.5 * erfc(z / SQRT_2)).ln()
}

/// The logarithm of the probability of a value above `t`, whose square is given, in Student's distribution: by way of the
/// normal one (Wallace).
pub fn ln_student_tail(t2: f64, freedom: f64) -> f64 {
    ln_tail((8.0 * freedom + 1.0) / (8.0 * freedom + 3.0) * (freedom * (t2 / freedom).ln_1p()).sqrt())
}

/// The value that Student's variable exceeds as often as a normal one exceeds `z`: the inverse of [`ln_student_tail`].
pub fn student_quantile(z: f64, freedom: f64) -> f64 {
    let z = z * (8.0 * freedom + 3.0) / (8.0 * freedom + 1.0);
    (freedom * (z * z / freedom).exp_m1()).sqrt()
}

/// The value that is exceeded with this probability, whose logarithm is given: the inverse of [`ln_tail`].
pub fn tail_quantile(ln_probability: f64) -> f64 {
    let (mut low, mut high) = (-8.0, 8.0 + (2.0 * -ln_probability.min(0.0)).sqrt());
    let mut z = (low + high) / 2.0;
    for step in 0..60 {
        let ln_tail = ln_tail(z);
        let excess = ln_tail - ln_probability;
        if excess > 0.0 {
            low = z
        } else {
            high = z
        }
        // Newton's method, and halves where that leads astray.
        let next = z + excess * mills_of(z, ln_tail);
        let is_near = step < 20 && low < next && next < high;
        let before = std::mem::replace(&mut z, if is_near { next } else { (low + high) / 2.0 });
        // The next step would be the square of this one.
        if (z - before).abs() < 1e-6 {
            break;
        }
    }
    z
}

/// The ratio of the tail's probability to the density: how much `z` grows while the tail's logarithm falls by one.
pub fn mills(z: f64) -> f64 {
    mills_of(z, ln_tail(z))
}

/// The same, if the tail's logarithm is known.
fn mills_of(z: f64, ln_tail: f64) -> f64 {
    (ln_tail + z * z / 2.0 + (2.0 * PI).ln() / 2.0).exp()
}

/// The complementary error function, within 1.2e-7 of its value (Numerical Recipes, `erfcc`).
fn erfc(x: f64) -> f64 {
    const TERMS: [f64; 10] = [
        -1.265_512_23,
        1.000_023_68,
        0.374_091_96,
        0.096_784_18,
        -0.186_288_06,
        0.278_868_07,
        -1.135_203_98,
        1.488_515_87,
        -0.822_152_23,
        0.170_872_77,
    ];
    let t = 1.0 / (1.0 + 0.5 * x.abs());
    let polynomial = TERMS.iter().rev().fold(0.0, |sum, term| sum * t + term);
    let above = t * (-x * x + polynomial).exp();
    if x < 0.0 { 2.0 - above } else { above }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_are_those_of_published_tables() {
        for (z, tail) in
            [(0.0, 0.5), (1.0, 0.158_655), (3.0, 1.349_9e-3), (5.0, 2.866_5e-7), (8.0, 6.221e-16)]
        {
            let told = ln_tail(z).exp();
            assert!((told / tail - 1.0).abs() < 1e-3, "{z}: {told} for {tail}");
            assert!((tail_quantile(ln_tail(z)) - z).abs() < 1e-6);
        }
        assert!((mills(0.0) - 1.253_314).abs() < 1e-3);
        for thousandths in -7_000..40_000 {
            let z = f64::from(thousandths) / 1000.0;
            let told = tail_quantile(ln_tail(z));
            // Far below the mean, the tail's logarithm has too few digits, and at 6 its two forms differ.
            let allowed = if z < -5.0 { 0.1 } else { 1e-4 };
            assert!((told - z).abs() < allowed, "{z}: {told}");
        }
        for (freedom, t) in [(3.0, 5.841), (10.0, 3.169), (46.0, 2.687)] {
            let told = student_quantile(tail_quantile(0.005_f64.ln()), freedom);
            assert!((told / t - 1.0).abs() < 0.05, "{freedom}: {told} for {t}");
            assert!((ln_student_tail(told * told, freedom).exp() - 0.005).abs() < 1e-6);
        }
    }
}
