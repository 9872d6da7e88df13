//! The layout of one run: what each knob is set to.
//!
//! It follows from the seed of the run, and is written as names and values, from which a run can be repeated.

use barrow_statistics::Random;

use crate::layout::{Knobs, Layout, LayoutKind};

/// Blocks of 128 KiB and more have pages of their own in glibc; a large block is smaller.
const LARGE_BYTES: u64 = 85 << 10;
/// Positions of a small thing within a block of the heap.
const SMALL_BYTES: u64 = 32;
/// The page: what knobs move is seen modulo its size.
const PAGE: u64 = 4096;
/// The alignment of stacks and of blocks.
const ALIGNMENT: u64 = 16;
/// One of this many random layouts has no address space randomisation: all others differ in their addresses.
const WITHOUT_ASLR: u64 = 8;
/// Bytes by which the path that is executed grows at most: a path has at most 4,096.
const PATH_BYTES: u64 = 3000;

/// The layout of one run. `None` is a knob that is left as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Round {
    /// Whether the system randomises addresses.
    pub(crate) aslr: Option<bool>,
    /// Bytes that the environment grows by.
    pub(crate) env: Option<u64>,
    /// Bytes that the executed path grows by.
    pub(crate) argv: Option<u64>,
    /// Bytes on the stack below `main`.
    pub(crate) stack: Option<u64>,
    /// A small block on the heap, a large one, and one that moves the beginning.
    pub(crate) heap: Option<[u64; 3]>,
    /// Whether huge pages are used.
    pub(crate) thp: Option<bool>,
}

impl Round {
    /// The layout that follows from a seed.
    pub(crate) fn of(layout: Layout, seed: u64) -> Self {
        match layout.kind {
            LayoutKind::AsIs => Round::default(),
            LayoutKind::Fixed => {
                Round { aslr: Some(false), env: Some(0), argv: Some(0), stack: Some(0), heap: Some([0; 3]), thp: None }
            }
            LayoutKind::Random => Round::random(layout.knobs, seed),
        }
    }

    /// Every knob draws its number, whether it is used or not: the others do not depend on which are.
    fn random(knobs: Knobs, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let aslr = random.below(WITHOUT_ASLR) != 0;
        let env = random.below(PAGE);
        let argv = random.below(PATH_BYTES);
        let stack = random.below(PAGE / ALIGNMENT) * ALIGNMENT;
        let heap = [
            random.below(SMALL_BYTES),
            LARGE_BYTES + random.below(SMALL_BYTES),
            random.below(PAGE / ALIGNMENT) * ALIGNMENT,
        ];
        let thp = random.below(2) == 1;
        Round {
            // Without this knob the recorded knobs must determine all addresses, so the system must not randomise them.
            aslr: Some(knobs.has(Knobs::ASLR) && aslr),
            env: knobs.has(Knobs::ENV).then_some(env),
            argv: knobs.has(Knobs::ARGV).then_some(argv),
            stack: knobs.has(Knobs::STACK).then_some(stack),
            heap: knobs.has(Knobs::HEAP).then_some(heap),
            thp: knobs.has(Knobs::THP).then_some(thp),
        }
    }

    /// The same without knobs that the system or the program lacks.
    pub(crate) fn limited(mut self, missing: Knobs) -> Self {
        self.aslr = self.aslr.filter(|_| !missing.has(Knobs::ASLR));
        self.env = self.env.filter(|_| !missing.has(Knobs::ENV));
        self.argv = self.argv.filter(|_| !missing.has(Knobs::ARGV));
        self.stack = self.stack.filter(|_| !missing.has(Knobs::STACK));
        self.heap = self.heap.filter(|_| !missing.has(Knobs::HEAP));
        self.thp = self.thp.filter(|_| !missing.has(Knobs::THP));
        self
    }

    /// The same of a program whose addresses the system randomises, whatever was asked for.
    pub(crate) fn with_own_addresses(self) -> Self {
        Round { aslr: self.aslr.map(|_| true), ..self }
    }

    /// Names and values, as they are recorded.
    pub(crate) fn pairs(&self) -> Vec<(&'static str, String)> {
        let switch = |on: bool| if on { "on" } else { "off" }.to_owned();
        let [small, large, offset] = match self.heap {
            Some(blocks) => blocks.map(Some),
            None => [None; 3],
        };
        let pairs = [
            ("aslr", self.aslr.map(switch)),
            ("env", self.env.map(|bytes| bytes.to_string())),
            ("argv", self.argv.map(|bytes| bytes.to_string())),
            ("stack", self.stack.map(|bytes| bytes.to_string())),
            ("heap_small", small.map(|bytes| bytes.to_string())),
            ("heap_large", large.map(|bytes| bytes.to_string())),
            ("heap_offset", offset.map(|bytes| bytes.to_string())),
            ("thp", self.thp.map(switch)),
        ];
        pairs.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }

    /// Reads names and values; what is not known is left as it is.
    pub(crate) fn of_pairs(pairs: &[(String, String)]) -> Self {
        let heap = ["heap_small", "heap_large", "heap_offset"].map(|name| bytes_of(pairs, name));
        Round {
            aslr: switch_of(pairs, "aslr"),
            env: bytes_of(pairs, "env"),
            argv: bytes_of(pairs, "argv").map(|bytes| bytes.min(PATH_BYTES)),
            stack: bytes_of(pairs, "stack"),
            heap: heap.iter().any(Option::is_some).then(|| heap.map(Option::unwrap_or_default)),
            thp: switch_of(pairs, "thp"),
        }
    }
}

fn value_of<'p>(pairs: &'p [(String, String)], name: &str) -> Option<&'p str> {
    pairs.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

fn bytes_of(pairs: &[(String, String)], name: &str) -> Option<u64> {
    Some(value_of(pairs, name)?.parse::<u64>().ok()?.min(1 << 20))
}

fn switch_of(pairs: &[(String, String)], name: &str) -> Option<bool> {
    match value_of(pairs, name)? {
        "on" => Some(true),
        "off" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layout_follows_from_its_seed_and_is_read_back() {
        for text in ["random", "fixed", "as-is", "random=heap,thp"] {
            let layout: Layout = text.parse().unwrap();
            for seed in 0..50 {
                let round = Round::of(layout, seed);
                assert_eq!(round, Round::of(layout, seed));
                let pairs: Vec<(String, String)> =
                    round.pairs().into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
                assert_eq!(Round::of_pairs(&pairs), round);
            }
        }
    }

    #[test]
    fn knobs_vary_and_do_not_depend_on_each_other() {
        let all: Layout = "random".parse().unwrap();
        let only: Layout = "random=heap".parse().unwrap();
        let mut offsets = std::collections::BTreeSet::new();
        for seed in 0..1000 {
            let (round, heap) = (Round::of(all, seed), Round::of(only, seed));
            assert_eq!(round.heap, heap.heap);
            assert!(heap.env.is_none() && heap.aslr == Some(false));
            offsets.insert(round.heap.unwrap()[2]);
        }
        assert!(offsets.len() > 240, "{}", offsets.len());
        assert_eq!(Round::of(all, 3).limited(Knobs::HEAP).heap, None);
    }
}
