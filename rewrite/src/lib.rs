//! Makes another recording from one: redacts it, repairs it, stores its snapshots as differences, or names its
//! addresses.
//!
//! ```text
//!                     ┌─ redact ───▶ other texts, names and numbers: the same equalities, lengths and structure
//!                     ├─ repair ───▶ the complete snapshots of a damaged file, with an index
//!   a.barrow ─────────┼─ repack ───▶ each snapshot as its difference to the one before, where that is smaller
//!                     └─ resolve ──▶ functions, files and lines instead of addresses
//! ```
//!
//! The recording that is read never changes. [`redact`](fn@redact), [`repair`](fn@repair) and [`repack`](fn@repack)
//! replace their destination when the new file is complete. [`resolve`](fn@resolve) writes to an open file.
//! [`audit`](fn@audit) only reports the contents of a recording.
//!
//! ```
//! use barrow_analyzer::{Recording, Silent};
//! use barrow_rewrite::{RepackOptions, repack};
//! # use barrow_writer::{KindRole, Object, Options, SnapshotInfo, TypeDescription, Writer};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let [path, small] = ["large.barrow", "small.barrow"].map(|name| folder.path().join(name));
//! # let writer = Writer::create(&path, Options::default())?;
//! # let kind = writer.kind("object", KindRole::Object)?;
//! # let card = writer.declare_type(&TypeDescription::new(kind, "Card"))?;
//! # for _ in 0..2 {
//! #     let snapshot = writer.begin_snapshot(SnapshotInfo::default())?;
//! #     let mut shard = snapshot.shard();
//! #     for number in 0..1000 {
//! #         shard.object(number, &Object::new(card, number * number))?;
//! #     }
//! #     shard.finish()?;
//! #     snapshot.commit()?;
//! # }
//! # writer.finish()?;
//! // Two snapshots of the same thousand objects.
//! let report = repack(&Recording::open(&path)?, &small, RepackOptions::default(), &Silent)?;
//! assert_eq!(report.snapshots[1].base, Some(report.snapshots[0].snapshot));
//! assert!(report.snapshots[1].stored_bytes < report.snapshots[0].stored_bytes / 10);
//! # Ok(())
//! # }
//! ```
//!
//! | module | contents |
//! |---|---|
//! | `contents` | the uses of each string, and the part of each byte |
//! | `audit` | amounts: strings by class, bytes by part |
//! | `redact` | the replacement of texts, names and numbers, with `cipher` (keyed permutations) and `strings` (their
//! new numbers) |
//! | `copy` | a new file that gets frames of another one: offsets, index and trailer |
//! | `repair` | the snapshots that are kept, and the reasons why others are lost |
//! | `repack` | the storage of each snapshot, with `draft` (its frames) and `comparison` (its difference to the
//! previous one) |
//! | `resolve` | names of addresses, with `modules` (files that contain code) and `calls` (the tree of calls) |

#![forbid(unsafe_code)]

mod audit;
mod contents;
mod copy;
mod error;
mod redact;
mod repack;
mod repair;
mod resolve;

pub use audit::{Audit, ClassRow, State, audit};
pub use contents::{FilePart, REPLACED_TEXTS};
pub use error::{Result, RewriteError};
pub use redact::{Key, RedactOptions, Redacted, StringCounts, redact};
pub use repack::{RepackOptions, Repacked, RepackedSnapshot, repack};
pub use repair::{KeptSnapshot, LeftOut, Repaired, repair};
pub use resolve::{ResolveOptions, Resolved, resolve};

/// The README, whose example is compiled and run with those of this crate.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
