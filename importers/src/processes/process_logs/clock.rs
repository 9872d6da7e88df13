//! Converts times of a log to times of the recording.

/// Converts times since 1970 to times since the recording began.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    created_ns: u64,
}

impl Clock {
    /// The clock of a recording that began at this time, in nanoseconds since 1970.
    pub(crate) fn new(created_ns: u64) -> Self {
        Clock { created_ns }
    }

    /// Nanoseconds since the recording began; negative for earlier times.
    pub(crate) fn since_created_ns(self, wall_ns: i128) -> i64 {
        saturated(wall_ns - i128::from(self.created_ns))
    }
}

/// The nearest time that a recording can hold.
pub(crate) fn saturated(time_ns: i128) -> i64 {
    time_ns.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_count_from_the_beginning_of_the_recording() {
        let clock = Clock::new(5_000_000_000);
        assert_eq!(clock.since_created_ns(5_000_000_007), 7);
        assert_eq!(clock.since_created_ns(4_999_999_999), -1);
        assert_eq!(clock.since_created_ns(i128::MAX), i64::MAX);
        assert_eq!(clock.since_created_ns(i128::from(i64::MIN) * 2), i64::MIN);
    }
}
