//! The UUID of a trace.

use std::fmt;

/// Identifies a trace: all of its chunks and snapshots have the same.
///
/// ```
/// use ctf_reader::Uuid;
///
/// let text = "6ce7ab66-7763-491f-9c28-0eccaf4265ec";
/// assert_eq!(Uuid::parse(text).unwrap().to_string(), text);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uuid(pub [u8; 16]);

impl Uuid {
    /// Reads the form with hyphens.
    pub fn parse(text: &str) -> Option<Uuid> {
        let mut bytes = [0; 16];
        let mut digits = text.bytes().filter(|&byte| byte != b'-');
        for byte in &mut bytes {
            let mut digit = || char::from(digits.next()?).to_digit(16);
            *byte = u8::try_from(digit()? << 4 | digit()?).ok()?;
        }
        digits.next().is_none().then_some(Uuid(bytes))
    }
}

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, byte) in self.0.iter().enumerate() {
            let hyphen = if [4, 6, 8, 10].contains(&i) { "-" } else { "" };
            write!(f, "{hyphen}{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "6ce7ab66-7763-491f-9c28-0eccaf4265ec";

    #[test]
    fn text_form_survives_a_round_trip() {
        assert_eq!(Uuid::parse(TEXT).unwrap().to_string(), TEXT);
        assert_eq!(Uuid::parse("6ce7ab66"), None);
        assert_eq!(Uuid::parse(&format!("{TEXT}00")), None);
        assert_eq!(Uuid::parse("zce7ab66-7763-491f-9c28-0eccaf4265ec"), None);
    }
}
