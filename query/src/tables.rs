//! What the answers of several commands show: objects, types, paths and their changes.

pub(crate) mod chain;
pub(crate) mod class_tables;
pub(crate) mod comparison;
pub(crate) mod found;
pub(crate) mod growth_series;
pub(crate) mod leak_series;
pub(crate) mod lifelines;
pub(crate) mod object_change;
pub(crate) mod path_change;
pub(crate) mod process_change;
pub(crate) mod process_details;
pub(crate) mod process_rows;
pub(crate) mod process_summary;
pub(crate) mod process_text;
pub(crate) mod ranking;
pub(crate) mod references;
pub(crate) mod suspect_lines;
pub(crate) mod suspects;
pub(crate) mod timeline_lines;
pub(crate) mod timeline_rows;
pub(crate) mod tree_cells;
pub(crate) mod tree_rows;
pub(crate) mod tree_walk;
pub(crate) mod type_counts;
pub(crate) mod type_path;
pub(crate) mod type_series;
