//! Reads the words of a question.

pub(crate) mod aggregates;
pub(crate) mod asked;
pub(crate) mod field;
pub(crate) mod kinds;
pub(crate) mod line;
pub(crate) mod names;
pub(crate) mod object_name;
pub(crate) mod operand;
pub(crate) mod quotes;
pub(crate) mod request;
pub(crate) mod selection;
pub(crate) mod tree_top;
