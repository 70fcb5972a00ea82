//! The current time in wire format.

use std::time::{SystemTime, UNIX_EPOCH};

/// Now, as ISO 8601 in UTC with milliseconds.
pub(crate) fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    stamp(since.as_secs(), since.subsec_millis())
}

fn stamp(secs: u64, millis: u32) -> String {
    let (days, secs) = (secs / 86_400, secs % 86_400);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (secs / 3600, secs / 60 % 60, secs % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

/// The date for a number of days since 1970. Counts eras of 400 years that start on 1 March.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::stamp;

    #[test]
    fn a_time_is_written_as_people_and_parsers_read_it() {
        assert_eq!(stamp(0, 0), "1970-01-01T00:00:00.000Z");
        assert_eq!(stamp(951_782_400, 7), "2000-02-29T00:00:00.007Z");
        assert_eq!(stamp(1_794_783_180, 212), "2026-11-15T22:53:00.212Z");
    }
}
