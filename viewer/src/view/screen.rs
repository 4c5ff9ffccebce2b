//! What output is shown on.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use unicode_width::UnicodeWidthStr;

/// What output is shown on.
#[derive(Clone, Debug)]
pub struct Screen {
    /// The number of columns; none if lines may have any length.
    pub width: Option<usize>,
    /// Whether colours are shown.
    pub colour: bool,
    /// The time zone that times are shown in.
    pub zone: TimeZone,
}

/// No limit of width, no colours, and the time zone of the system.
impl Default for Screen {
    fn default() -> Self {
        Screen { width: None, colour: false, zone: TimeZone::system() }
    }
}

impl Screen {
    pub(super) fn bold(&self, text: &str) -> String {
        self.paint("1", text)
    }

    pub(super) fn paint(&self, code: &str, text: &str) -> String {
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// A sentence in lines that fit, all but the first indented.
    pub(super) fn wrapped(&self, sentence: &str) -> Vec<String> {
        self.fill("", "  ", sentence)
    }

    /// A sentence in lines that fit, all indented.
    pub(super) fn indented(&self, sentence: &str, by: usize) -> Vec<String> {
        let indent = " ".repeat(by);
        self.fill(&indent, &indent, sentence)
    }

    fn fill(&self, first: &str, others: &str, sentence: &str) -> Vec<String> {
        let width = self.width.unwrap_or(usize::MAX);
        let mut lines: Vec<String> = Vec::new();
        for word in sentence.split(' ') {
            match lines.last_mut() {
                Some(line) if line.width() + 1 + word.width() <= width => {
                    line.push(' ');
                    line.push_str(word);
                }
                Some(_) => lines.push(format!("{others}{word}")),
                None => lines.push(format!("{first}{word}")),
            }
        }
        lines
    }

    /// Whether there is little room for long names and times.
    pub(super) fn is_narrow(&self) -> bool {
        self.width.is_some_and(|width| width < 120)
    }

    /// The time of day, to the microsecond, or to the millisecond on a narrow screen.
    pub(super) fn time_of_day(&self, nanoseconds: i64) -> String {
        self.format(nanoseconds, if self.is_narrow() { "%H:%M:%S%.3f" } else { "%H:%M:%S%.6f" })
    }

    /// Date, time and zone, to the microsecond.
    pub(super) fn date_and_time(&self, nanoseconds: i64) -> String {
        self.format(nanoseconds, "%Y-%m-%d %H:%M:%S%.6f %Z")
    }

    /// How many seconds local time is ahead of UTC at a time.
    pub(super) fn zone_at(&self, nanoseconds: i64) -> i32 {
        let timestamp = Timestamp::from_nanosecond(nanoseconds.into()).unwrap_or_default();
        self.zone.to_offset(timestamp).seconds()
    }

    fn format(&self, nanoseconds: i64, format: &str) -> String {
        // Every 64-bit number of nanoseconds is within the range of jiff.
        let timestamp = Timestamp::from_nanosecond(nanoseconds.into()).unwrap_or_default();
        timestamp.to_zoned(self.zone.clone()).strftime(format).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_is_wrapped_between_words() {
        let screen = |width| Screen { width, colour: false, zone: TimeZone::UTC };
        assert_eq!(screen(Some(9)).wrapped("one two three four"), ["one two", "  three", "  four"]);
        assert_eq!(screen(None).wrapped("one two three"), ["one two three"]);
        assert_eq!(screen(Some(9)).indented("one two three", 1), [" one two", " three"]);
    }
}
