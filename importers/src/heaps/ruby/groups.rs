//! Several dumps in one file, from a program that appends each to the one before.
//!
//! ```text
//!   ROOT ROOT object object …   ROOT ROOT object object …
//!   └ Ruby writes the roots before all objects: so these begin another dump
//! ```

/// Alternating groups of roots and objects.
#[derive(Debug, Default)]
pub(super) struct Groups {
    /// The offset of the first line, and whether it is an object.
    first: Option<(u64, bool)>,
    /// The offsets of roots that follow objects.
    roots_after_objects: Vec<u64>,
    /// The last line is an object.
    ends_with_object: bool,
}

impl Groups {
    /// Adds the next line, at this offset.
    pub(super) fn add(&mut self, is_object: bool, offset: u64) {
        if !is_object && self.ends_with_object {
            self.roots_after_objects.push(offset);
        }
        self.first.get_or_insert((offset, is_object));
        self.ends_with_object = is_object;
    }

    /// Adds the lines of the next chunk.
    pub(super) fn append(&mut self, next: Groups) {
        let Some((offset, is_object)) = next.first else { return };
        self.add(is_object, offset);
        self.roots_after_objects.extend(next.roots_after_objects);
        self.ends_with_object = next.ends_with_object;
    }

    /// The offsets of the dumps, of which the last may be cut before its objects. Empty for lines that begin with an
    /// object, and for roots alone.
    pub(super) fn starts(self) -> Vec<usize> {
        match self.first {
            Some((start, false)) if self.ends_with_object || !self.roots_after_objects.is_empty() => {
                std::iter::once(start).chain(self.roots_after_objects).map(|start| start as usize).collect()
            }
            _ => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_after_objects_begin_another_dump_wherever_chunks_end() {
        for (kinds, expected) in [
            ("rroo", &[0][..]),
            ("rroorooro", &[0, 4, 7]),
            ("rorro", &[0, 2]),
            ("oroo", &[]),
            ("roor", &[0, 3]),
            ("rr", &[]),
            ("", &[]),
        ] {
            for cut in 0..=kinds.len() {
                let of = |from: usize, to: usize| {
                    let mut groups = Groups::default();
                    (from..to).for_each(|at| groups.add(kinds.as_bytes()[at] == b'o', at as u64));
                    groups
                };
                let mut groups = of(0, cut);
                groups.append(of(cut, kinds.len()));
                assert_eq!(groups.starts(), expected, "{kinds} {cut}");
            }
        }
    }
}
