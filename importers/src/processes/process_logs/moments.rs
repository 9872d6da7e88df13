//! Sorts the beginnings and ends of processes by time.

/// The beginning or end of a process, which is given by its position in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    Begin(usize),
    End(usize),
}

/// All beginnings and ends, in the order of time. At the same time, ends of earlier processes come first.
pub(crate) fn moments(spans: &[(i64, i64)]) -> Vec<Moment> {
    let of_processes = spans.iter().enumerate().flat_map(|(process, &(begin, end))| {
        let end_order = if end <= begin { 2 } else { 0 };
        [(begin, 1, Moment::Begin(process)), (end.max(begin), end_order, Moment::End(process))]
    });
    let mut all: Vec<(i64, u8, Moment)> = of_processes.collect();
    all.sort_by_key(|&(time, order, _)| (time, order));
    all.into_iter().map(|(_, _, moment)| moment).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use Moment::{Begin, End};

    #[test]
    fn moments_are_in_the_order_of_time() {
        assert_eq!(moments(&[(3, 5), (0, 3), (3, 3)]), [Begin(1), End(1), Begin(0), Begin(2), End(2), End(0)]);
        assert_eq!(moments(&[(4, 2)]), [Begin(0), End(0)]);
        assert_eq!(moments(&[]), []);
    }
}
