//! What the strings of a recording are: for each of them, which classes it belongs to.
//!
//! ```text
//!   string 7   "java.lang.String"   name of a type, text of an object
//!   string 8   "alice@example.com"  text of an object
//!   string 9   "wall"               no class: nothing names it
//! ```
//!
//! A string may belong to several classes, since a writer stores equal strings once.

mod class;
mod rows;
mod uses;
pub(crate) mod vocabulary;

pub(crate) use class::{Class, Treatment};
pub(crate) use rows::{Named, columns_strings, commit_strings};
pub(crate) use uses::{Contents, Fields, Uses, rows_of};
