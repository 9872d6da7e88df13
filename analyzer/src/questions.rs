//! Questions about one snapshot, one file each.

pub(crate) mod collections;
pub(crate) mod duplicates;
pub(crate) mod entries;
pub(crate) mod expression;
pub(crate) mod fields;
pub(crate) mod find;
pub(crate) mod fingerprint;
pub(crate) mod frames;
pub(crate) mod groups;
pub(crate) mod leaks;
pub(crate) mod lines;
pub(crate) mod loaders;
pub(crate) mod merged_paths;
pub(crate) mod numbers;
pub(crate) mod off_heap;
pub(crate) mod paths;
pub(crate) mod referrers;
pub(crate) mod retained;
pub(crate) mod set_references;
pub(crate) mod site_totals;
pub(crate) mod summary;
pub(crate) mod texts;
pub(crate) mod threads;
pub(crate) mod type_references;
pub(crate) mod waste;
