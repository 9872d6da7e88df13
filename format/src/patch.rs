//! Snapshots stored as their difference to the one before: the parts shared by all encoders of patches.
//!
//! ```text
//!   objects of the snapshot ── rows ──▶ groups of rows that began in one block
//!                                         │  died, changed, moved
//!   limits ── is a patch worthwhile?      ▼
//!                                       EncodedGroup: gone, same, PATCH frame, or BLOCK frame of new rows
//!                                         │
//!   Layout ◀── object numbers and blocks ─┘   what COMMIT says of the snapshot
//! ```
//!
//! An encoder decides which objects of two snapshots are the same, and whether one has changed: a writer knows serials
//! and compares hashes, repacking compares the objects themselves. Everything else is here. It knows columns and bytes
//! only, neither files nor heaps.
//!
//! A *row* is the place that an object keeps from a whole snapshot through the patches after it. An object whose
//! references fill several blocks is a *giant*; its further blocks are *continuations*. A patch stores no
//! continuations, so a giant that changed becomes a new row.

mod columns;
mod encoded_group;
mod layout;
mod limits;
mod row_group;

pub use columns::{BLOCK_REFERENCES, BLOCK_VALUES, ColumnFiller, ObjectFields, continuation, is_full};
pub use encoded_group::{EncodedGroup, encode_block, encode_difference};
pub use layout::Layout;
pub use limits::{MAX_CHAIN, is_worthwhile, most_rows, most_stored};
pub use row_group::{Divisions, NO_ROW, RowGroup, separate_changed};
