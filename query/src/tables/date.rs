//! Dates of the calendar, in UTC.

/// Nanoseconds since 1970 as `2026-11-21 03:29:30 UTC`.
pub(crate) fn date(nanoseconds: u64) -> String {
    let seconds = nanoseconds / 1_000_000_000;
    let time = seconds % 86_400;
    let (year, month, day) = barrow_analyzer::days_to_date((seconds / 86_400).cast_signed());
    let (hour, minute, second) = (time / 3600, time / 60 % 60, time % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_of_this_calendar() {
        assert_eq!(date(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(date(951_782_400_000_000_000), "2000-02-29 00:00:00 UTC");
        assert_eq!(date(1_795_231_770_000_000_000), "2026-11-21 03:29:30 UTC");
    }
}
