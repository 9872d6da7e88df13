//! What a recording holds: its bytes by part, and for each of its strings the classes that it belongs to.
//!
//! ```text
//!   string 7   "java.lang.String"   name of a type, text of an object
//!   string 8   "alice@example.com"  text of an object
//!   string 9   "wall"               no class: nothing names it
//! ```
//!
//! A string may belong to several classes, since a writer stores equal strings once.

mod class;
mod parts;
mod rows;
mod uses;
pub(crate) mod vocabulary;

pub(crate) use class::{Class, Treatment};
pub use parts::FilePart;
pub(crate) use parts::file_parts;
pub(crate) use rows::{StringRow, columns_strings, commit_strings};
pub(crate) use uses::{Contents, Fields, Uses, rows_of};
pub use vocabulary::TEXTS_FACT as REPLACED_TEXTS;
