//! Sets of images of a process tree, one bit per image.

use rayon::prelude::*;

use crate::tree::{ImageId, ProcessTree};

const WORD_BITS: usize = u64::BITS as usize;

/// A set of images.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImageSet {
    words: Vec<u64>,
    len: usize,
}

impl ImageSet {
    /// The images of a tree for which `is` holds, evaluated by all threads.
    pub(crate) fn of(tree: &ProcessTree, is: impl Fn(ImageId) -> bool + Sync) -> Self {
        let count = tree.images().len();
        let words: Vec<u64> = (0..count.div_ceil(WORD_BITS))
            .into_par_iter()
            .with_min_len(16)
            .map(|number| {
                let start = number * WORD_BITS;
                let ids =
                    (start..count.min(start + WORD_BITS)).map(|at| ImageId(u32::try_from(at).unwrap_or(u32::MAX)));
                ids.enumerate().fold(0, |word, (bit, id)| word | u64::from(is(id)) << bit)
            })
            .collect();
        let len = words.iter().map(|word| word.count_ones() as usize).sum();
        ImageSet { words, len }
    }

    /// Number of images.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no image.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether it contains an image.
    #[must_use]
    pub fn contains(&self, image: ImageId) -> bool {
        let word = self.words.get(image.index() / WORD_BITS);
        word.is_some_and(|word| word >> (image.index() % WORD_BITS) & 1 == 1)
    }

    /// All images, in order of start.
    pub fn iter(&self) -> impl Iterator<Item = ImageId> {
        self.words.iter().enumerate().flat_map(|(number, &word)| {
            let words = std::iter::successors(Some(word), |&word| Some(word & word.wrapping_sub(1)));
            words.take_while(|&word| word != 0).map(move |word| {
                let at = number * WORD_BITS + word.trailing_zeros() as usize;
                ImageId(u32::try_from(at).unwrap_or(u32::MAX))
            })
        })
    }
}

impl FromIterator<ImageId> for ImageSet {
    fn from_iter<I: IntoIterator<Item = ImageId>>(images: I) -> Self {
        let mut set = ImageSet::default();
        for image in images {
            let number = image.index() / WORD_BITS;
            if set.words.len() <= number {
                set.words.resize(number + 1, 0);
            }
            let bit = 1 << (image.index() % WORD_BITS);
            set.len += usize::from(set.words[number] & bit == 0);
            set.words[number] |= bit;
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_in_order() {
        let ids = [63, 64, 0, 200, 64].map(ImageId);
        let set: ImageSet = ids.into_iter().collect();
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 63, 64, 200].map(ImageId));
        assert_eq!((set.len(), set.is_empty(), ImageSet::default().is_empty()), (4, false, true));
        assert!(set.contains(ImageId(200)) && !set.contains(ImageId(1)) && !set.contains(ImageId(10_000)));
    }
}
