//! Turns a live heap into a barrow recording.
//!
//! ```text
//!   runtime                       writer                                   file
//!   ───────                       ──────                                   ────
//!   declare kinds, types     ──▶  tables ───────────────────────────────▶  STRINGS KINDS TYPES …
//!   begin_snapshot
//!     shard: objects and     ──▶  block of plain columns ──▶ encoders ──▶  BLOCK BLOCK …
//!     references (any number                (bounded)        (threads)
//!     of threads)
//!   commit                   ──▶  check, totals ────────────────────────▶  ROOTS STATS THREADS COMMIT
//!   finish                   ──▶  ──────────────────────────────────────▶  INDEX, trailer
//! ```
//!
//! The file is only ever appended to. A snapshot counts from the moment its commit is whole; if the
//! process dies, all snapshots committed before are readable.
//!
//! ```
//! use barrow_writer::{KindRole, Label, Object, Options, SnapshotInfo, StrengthId, TypeDescription, Writer};
//!
//! # fn main() -> Result<(), barrow_writer::WriterError> {
//! let writer = Writer::to_stream(Box::new(Vec::new()), Options::default())?;
//! let object = writer.kind("object", KindRole::Object)?;
//! let pair = writer.declare_type(&TypeDescription::new(object, "Pair"))?;
//! let (head, globals) = (writer.string("head")?, writer.string("globals")?);
//!
//! let snapshot = writer.begin_snapshot(SnapshotInfo::default())?;
//! let mut shard = snapshot.shard();
//! shard.root(globals, None, 0)?;
//! shard.object(0, &Object::new(pair, 32))?;
//! shard.reference(Label::Name(head), StrengthId::STRONG, 1)?;
//! shard.object(1, &Object::new(pair, 32))?;
//! shard.finish()?;
//! let totals = snapshot.commit()?;
//! assert_eq!((totals.objects, totals.references, totals.heap_bytes), (2, 1, 64));
//!
//! assert_eq!(writer.finish()?.snapshots, 1);
//! # Ok(())
//! # }
//! ```
//!
//! Reading order: [`Writer`], [`Snapshot`], [`Shard`]; then `announced` (a block as it was told),
//! `shapes` (what objects of a type have in common), `encoders` (threads) with `gate` (the memory bound),
//! `collected` (what they gather, and the commit), `patches` (differences to the snapshot before), `threads` of the recorded program,
//! `word` (what the caller says itself);
//! `shared` with `tables`, `shortened` (texts that are too long) and `sink` (the end of the file).

#![forbid(unsafe_code)]

mod announced;
mod collected;
mod encoders;
mod error;
mod gate;
mod interned;
mod lock;
mod measurements;
mod object;
mod options;
mod patches;
mod processes;
mod shapes;
mod shard;
mod shared;
mod shortened;
mod sink;
mod snapshot;
mod tables;
mod threads;
mod word;
mod writer;

pub use barrow_format::codec::Compression;
pub use barrow_format::commit::Totals;
pub use barrow_format::rows::{Better, Encoding, KindRole, Label, StrengthClass, Usage, Value, WordPlace, WordValues};
pub use barrow_format::signals;
pub use barrow_format::{
    FieldId, KindId, MetricId, ObjectId, ProcessId, RunId, SiteId, SnapshotId, StrengthId, StringId, TypeId, VariantId,
};
pub use error::{Result, WriterError};
pub use measurements::{MetricDescription, RunDescription, RunEnd, ValueDescription, VariantDescription};
pub use object::Object;
pub use options::{Options, Sync};
pub use processes::{ProcessDescription, ProcessEnd, ProgramDescription};
pub use shard::Shard;
pub use shortened::{MAX_TEXT_BYTES, Shortened};
pub use snapshot::{Snapshot, SnapshotInfo};
pub use threads::ThreadDescription;
pub use word::Word;
pub use writer::{Finished, SiteDescription, TypeDescription, Writer};

/// The page about embedding, whose examples in Rust are compiled and run with those of this crate.
#[cfg(doctest)]
#[doc = include_str!("../../docs/embedding.md")]
pub struct Embedding;

/// The README, whose example is compiled and run with those of this crate.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
