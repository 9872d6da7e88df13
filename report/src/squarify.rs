//! Rectangles with given areas, as square as possible (Bruls, Huizing and van Wijk 2000).

/// A rectangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rect {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

/// Divides a rectangle in proportion to `sizes`, which descend. All of it is used.
pub(crate) fn squarify(sizes: &[u64], mut room: Rect) -> Vec<Rect> {
    let mut found = Vec::with_capacity(sizes.len());
    let mut left: f64 = sizes.iter().map(|&size| size as f64).sum();
    let mut from = 0;
    while from < sizes.len() {
        let scale = if left > 0.0 { room.width * room.height / left } else { 0.0 };
        let side = room.width.min(room.height);
        let (mut end, mut sum) = (from, 0.0);
        let mut worst = f64::INFINITY;
        while end < sizes.len() {
            let more = sum + sizes[end] as f64 * scale;
            let ratio = worst_ratio(sizes[from] as f64 * scale, sizes[end] as f64 * scale, more, side);
            if ratio > worst {
                break;
            }
            (worst, sum) = (ratio, more);
            end += 1;
        }
        let end = end.max(from + 1);
        // The last row takes what is left, so that nothing is lost by rounding.
        let is_last = end == sizes.len();
        let row: f64 = sizes[from..end].iter().map(|&size| size as f64).sum();
        room = lay(&sizes[from..end], row, if is_last { 1.0 } else { row / left.max(1.0) }, room, &mut found);
        left -= row;
        from = end;
    }
    found
}

/// The ratio of the longer to the shorter side of the worst rectangle of a row.
fn worst_ratio(largest: f64, smallest: f64, sum: f64, side: f64) -> f64 {
    if sum <= 0.0 || smallest <= 0.0 {
        return f64::INFINITY;
    }
    let square = side * side;
    (square * largest / (sum * sum)).max(sum * sum / (square * smallest))
}

/// Lays a row along the shorter side, over `part` of the longer one. Returns what is left.
fn lay(sizes: &[u64], sum: f64, part: f64, room: Rect, found: &mut Vec<Rect>) -> Rect {
    let is_wide = room.width >= room.height;
    let (long, short) = if is_wide { (room.width, room.height) } else { (room.height, room.width) };
    let depth = long * part;
    let mut at = 0.0;
    for &size in sizes {
        let length = if sum > 0.0 { short * size as f64 / sum } else { 0.0 };
        found.push(if is_wide {
            Rect { x: room.x, y: room.y + at, width: depth, height: length }
        } else {
            Rect { x: room.x + at, y: room.y, width: length, height: depth }
        });
        at += length;
    }
    if is_wide {
        Rect { x: room.x + depth, width: room.width - depth, ..room }
    } else {
        Rect { y: room.y + depth, height: room.height - depth, ..room }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_are_in_proportion_and_fill_the_room() {
        let room = Rect { x: 3.0, y: 5.0, width: 600.0, height: 400.0 };
        for sizes in [&[6u64, 6, 4, 3, 2, 2, 1][..], &[1], &[1_000_000, 1, 1], &[5, 0, 0], &[u64::MAX, u64::MAX / 2]] {
            let rects = squarify(sizes, room);
            let whole: f64 = sizes.iter().map(|&size| size as f64).sum();
            assert_eq!(rects.len(), sizes.len());
            for (rect, &size) in rects.iter().zip(sizes) {
                let expected = size as f64 / whole * room.width * room.height;
                assert!((rect.width * rect.height - expected).abs() < 1e-6 * 240_000.0, "{rect:?} of {sizes:?}");
                assert!(rect.x >= room.x - 1e-9 && rect.x + rect.width <= room.x + room.width + 1e-6);
                assert!(rect.y >= room.y - 1e-9 && rect.y + rect.height <= room.y + room.height + 1e-6);
            }
        }
    }

    #[test]
    fn equal_areas_are_squares() {
        let rects = squarify(&[1; 9], Rect { x: 0.0, y: 0.0, width: 300.0, height: 300.0 });
        assert!(rects.iter().all(|rect| (rect.width - 100.0).abs() < 1e-6 && (rect.height - 100.0).abs() < 1e-6));
    }
}
