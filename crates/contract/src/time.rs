//! Timestamps: ISO 8601 on the wire, in UTC with milliseconds.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize, Serializer};

/// Milliseconds since 1970 in UTC. Written `2026-11-15T23:42:00.000Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
#[cfg_attr(test, derive(ts_rs::TS), ts(type = "string"))]
pub struct Timestamp(i64);

/// The first and the last time that can be written with four digits for the year.
const FIRST: i64 = -62_167_219_200_000;
const LAST: i64 = 253_402_300_799_999;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidTimestamp(String);

impl fmt::Display for InvalidTimestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not an ISO 8601 time: {:?}", self.0)
    }
}

impl std::error::Error for InvalidTimestamp {}

impl Timestamp {
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    pub const fn as_millis(self) -> i64 {
        self.0
    }

    pub fn after(self, by: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(by.as_millis()).unwrap_or(i64::MAX)))
    }

    /// Digit by digit: every item of a history has three of these, and a formatter takes several times as long.
    fn text(self) -> [u8; 24] {
        let time = self.0.clamp(FIRST, LAST);
        let (days, millis) = (time.div_euclid(86_400_000), time.rem_euclid(86_400_000));
        let (year, month, day) = civil_from_days(days);
        let mut text = *b"0000-00-00T00:00:00.000Z";
        write_digits(&mut text[0..4], year);
        write_digits(&mut text[5..7], month);
        write_digits(&mut text[8..10], day);
        write_digits(&mut text[11..13], millis / 3_600_000);
        write_digits(&mut text[14..16], millis / 60_000 % 60);
        write_digits(&mut text[17..19], millis / 1000 % 60);
        write_digits(&mut text[20..23], millis % 1000);
        text
    }

    /// Reads `YYYY-MM-DDTHH:MM:SS`, with any fraction, in UTC (`Z`) or with an offset such as `+02:00`.
    pub fn parse(text: &str) -> Result<Self, InvalidTimestamp> {
        parse(text).map(Self).ok_or_else(|| InvalidTimestamp(text.chars().take(40).collect()))
    }
}

impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}

impl TryFrom<String> for Timestamp {
    type Error = InvalidTimestamp;

    fn try_from(text: String) -> Result<Self, InvalidTimestamp> {
        Self::parse(&text)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(str::from_utf8(&self.text()).map_err(serde::ser::Error::custom)?)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(str::from_utf8(&self.text()).map_err(|_| fmt::Error)?)
    }
}

/// The last digits of a number.
fn write_digits(text: &mut [u8], mut number: i64) {
    for digit in text.iter_mut().rev() {
        *digit = b'0' + u8::try_from(number % 10).unwrap_or_default();
        number /= 10;
    }
}

fn parse(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    if !text.is_ascii() || bytes.len() < 20 {
        return None;
    }
    let separators = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    if separators.iter().any(|&(at, wanted)| !bytes[at].eq_ignore_ascii_case(&wanted)) {
        return None;
    }
    let number = |range: std::ops::Range<usize>| -> Option<i64> {
        let digits = text.get(range)?;
        digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok())?
    };
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    let (hour, minute, second) = (number(11..13)?, number(14..16)?, number(17..19)?);
    let in_range = (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60;
    if !in_range || civil_from_days(days_from_civil(year, month, day)) != (year, month, day) {
        return None;
    }

    let rest = &text[19..];
    let (fraction, zone) = match rest.strip_prefix('.') {
        Some(rest) => rest.split_at(rest.find(|c: char| !c.is_ascii_digit())?),
        None => ("000", rest),
    };
    let millis: i64 = format!("{fraction:0<3}").get(..3)?.parse().ok()?;
    let offset_minutes = match zone {
        "Z" | "z" => 0,
        zone if zone.len() == 6 && zone.as_bytes()[3] == b':' => {
            let at = text.len() - 6;
            let minutes = number(at + 1..at + 3)? * 60 + number(at + 4..at + 6)?;
            match zone.as_bytes()[0] {
                b'+' => minutes,
                b'-' => -minutes,
                _ => return None,
            }
        }
        _ => return None,
    };
    let seconds = days_from_civil(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
    Some((seconds - offset_minutes * 60) * 1000 + millis)
}

/// Days since 1970-01-01 of a Gregorian date. Counts in eras of 400 years that start in March, so that the leap day
/// is the last day of its year.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// The inverse of [`days_from_civil`].
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day_of_year - (153 * shifted + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_read_as_they_are_written() {
        for millis in [0, 1, 951_782_400_000, 1_763_250_120_123, 4_107_542_399_999, -1] {
            let time = Timestamp(millis);
            assert_eq!(Timestamp::parse(&time.to_string()), Ok(time), "{time}");
        }
        assert_eq!(Timestamp(1_763_250_120_123).to_string(), "2025-11-15T23:42:00.123Z");
        assert_eq!(Timestamp(951_782_400_000).to_string(), "2000-02-29T00:00:00.000Z");
    }

    #[test]
    fn offsets_and_other_fractions_are_understood() {
        let expected = Timestamp::parse("2025-11-15T23:42:00.500Z");
        assert!(expected.is_ok());
        for text in [
            "2025-11-15T23:42:00.5Z",
            "2025-11-16T01:42:00.500999+02:00",
            "2025-11-15t18:42:00.5-05:00",
        ] {
            assert_eq!(Timestamp::parse(text), expected, "{text}");
        }
    }

    #[test]
    fn other_text_is_refused() {
        for text in [
            "",
            "now",
            "2025-11-15",
            "2025-02-30T00:00:00Z",
            "2025-13-01T00:00:00Z",
            "2025-11-15T24:00:00Z",
            "2025-11-15T23:42:00",
            "2025-11-15T23:42:00.Z+",
            "２025-11-15T23:42:00Z",
        ] {
            assert!(Timestamp::parse(text).is_err(), "{text}");
        }
    }
}
