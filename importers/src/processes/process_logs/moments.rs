//! The beginnings and ends of processes that a log lists in another order.

/// When a process begins or ends; processes are named by their position in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    Begin(usize),
    End(usize),
}

/// All beginnings and ends, in the order of time. Where several fall together, ends of what began before come first.
pub(crate) fn moments(spans: &[(i64, i64)]) -> Vec<Moment> {
    let keys = |(process, &(begin, end)): (usize, &(i64, i64))| {
        let end_order = if end <= begin { 2 } else { 0 };
        [(begin, 1, Moment::Begin(process)), (end.max(begin), end_order, Moment::End(process))]
    };
    let mut all: Vec<(i64, u8, Moment)> = spans.iter().enumerate().flat_map(keys).collect();
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
