//! Answers questions about a barrow recording, with all cores.
//!
//! ```text
//!   file ─ map ─▶ Recording ─┬─ index, commits ──▶ snapshots, summary, diff    read: kilobytes
//!                            ├─ tables ──────────▶ names, types, shapes        read: once, when needed
//!                            └─ blocks ──────────▶ find, count, object, verify read: what is asked for,
//!                                 (each decodes on its own, on any thread)           in parallel
//! ```
//!
//! ```
//! use barrow_analyzer::{Expression, Recording, Silent, count, summary};
//! # use barrow_writer::{KindRole, Object, Options, SnapshotInfo, TypeDescription, Writer};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("two.barrow");
//! # let writer = Writer::create(&path, Options::default())?;
//! # let kind = writer.kind("object", KindRole::Object)?;
//! # let pair = writer.declare_type(&TypeDescription::new(kind, "Pair"))?;
//! # let snapshot = writer.begin_snapshot(SnapshotInfo::default())?;
//! # let mut shard = snapshot.shard();
//! # shard.object(0, &Object::new(pair, 32))?;
//! # shard.object(1, &Object::new(pair, 48))?;
//! # shard.finish()?;
//! # snapshot.commit()?;
//! # writer.finish()?;
//! let recording = Recording::open(&path)?;
//! let last = recording.snapshot_ids().last().ok_or("no snapshot")?;
//! assert_eq!(summary(&recording, last)?.totals.heap_bytes, 80);
//!
//! let large = Expression::parse("type = \"Pair\" and size > 40")?;
//! assert_eq!(count(&recording, last, &[], &large, &Silent)?.objects, 1);
//! # Ok(())
//! # }
//! ```
//!
//! Reading order: [`Recording`] (with `contents`: index or scan; and [`Tables`]), `blocks` (decoding on
//! all cores), then a file for each question: `summary`, `diff`, `object`, `find` with `expression`,
//! `verify`, `repair`.

#![deny(unsafe_code)]

mod blocks;
mod bytes;
mod contents;
mod diff;
mod error;
mod expression;
mod find;
mod object;
mod progress;
mod recording;
mod repair;
mod summary;
mod tables;
mod verify;

pub use barrow_format::commit::Totals;
pub use barrow_format::rows::{KindRole, Label, StrengthClass, TypeTotals};
pub use barrow_format::{FormatError, KindId, ObjectId, SiteId, SnapshotId, StrengthId, StringId, TypeId};
pub use contents::Damage;
pub use diff::{Amounts, Diff, KindChange, Side, TypeChange, TypeIdentity, diff};
pub use error::{AnalyzerError, Result};
pub use expression::{ATTRIBUTES, Expression, ExpressionError, parse_size};
pub use find::{Counted, Found, count, find};
pub use object::{ObjectDetails, Reference, object, object_at_address, objects, outgoing, walk};
pub use progress::{Progress, Silent};
pub use recording::{Recording, SnapshotInfo};
pub use repair::{Repaired, repair};
pub use summary::{KindTotals, Source, Summary, summary, type_totals, verified_summaries};
pub use tables::Tables;
pub use verify::{Problem, SnapshotVerification, Verification, verify};
