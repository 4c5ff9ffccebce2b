//! Percentiles, named exactly.

use std::fmt;
use std::str::FromStr;

/// The part of the values that is at or below a percentile, in lowest decimal terms: 999 of 1,000 for the 99.9th.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Quantile {
    /// The numerator.
    pub part: u32,
    /// The denominator: 100 or a larger power of ten.
    pub of: u32,
}

impl Quantile {
    /// The median.
    pub const P50: Quantile = Quantile { part: 50, of: 100 };
    /// 90 % are at or below.
    pub const P90: Quantile = Quantile { part: 90, of: 100 };
    /// 99 % are at or below.
    pub const P99: Quantile = Quantile { part: 99, of: 100 };
    /// 99.9 % are at or below.
    pub const P999: Quantile = Quantile { part: 999, of: 1000 };

    /// The name that programs know the percentile by: `p50`, `p999` for the 99.9th, `p05` for the 5th. At least two
    /// digits stand before the decimal point that is left out, so no two percentiles have the same name.
    pub fn name(self) -> String {
        let decimals = (self.of / 100).ilog10() as usize;
        format!("p{:0width$}", self.part, width = decimals + 2)
    }
}

/// The percentage: `99.9`.
impl fmt::Display for Quantile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scale = self.of / 100;
        let decimals = scale.ilog10() as usize;
        write!(f, "{}", self.part / scale)?;
        if decimals > 0 {
            write!(f, ".{:0decimals$}", self.part % scale)?;
        }
        Ok(())
    }
}

impl FromStr for Quantile {
    type Err = String;

    /// Reads a percentage above 0 and up to 100, with at most six decimals: `99.99`.
    fn from_str(text: &str) -> Result<Quantile, String> {
        let refused =
            || format!("`{text}` is not a percentile: write a number above 0 and up to 100, e.g. 99.9");
        let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
        let decimals = decimals.trim_end_matches('0');
        let digits = [whole, decimals].concat();
        let is_number = !whole.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
        if !is_number || whole.len() > 3 || decimals.len() > 6 {
            return Err(refused());
        }
        let quantile = Quantile {
            part: digits.parse().map_err(|_| refused())?,
            of: 10_u32.pow(2 + decimals.len() as u32),
        };
        if quantile.part == 0 || quantile.part > quantile.of { Err(refused()) } else { Ok(quantile) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_percentile_can_be_named() {
        for (text, part, of, name) in [
            ("50", 50, 100, "p50"),
            ("99.90", 999, 1000, "p999"),
            ("99.99", 9999, 10_000, "p9999"),
            ("5", 5, 100, "p05"),
            ("9.9", 99, 1000, "p099"),
            ("0.5", 5, 1000, "p005"),
            ("100", 100, 100, "p100"),
        ] {
            let quantile: Quantile = text.parse().unwrap();
            assert_eq!((quantile, &*quantile.name()), (Quantile { part, of }, name));
        }
        assert_eq!("99.90".parse::<Quantile>().unwrap().to_string(), "99.9");
        assert_eq!("0.05".parse::<Quantile>().unwrap().to_string(), "0.05");
        for text in ["", "0", "0.0", "100.1", "101", "-1", "x", "99.1234567", "+9", "."] {
            assert!(text.parse::<Quantile>().is_err(), "{text}");
        }
    }
}
