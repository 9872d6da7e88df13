//! The byte format of barrow recordings. `docs/recording-format.md` is the specification; this crate is its first
//! implementation, for writers and readers alike. It works on slices: files and threads belong to other crates.
//!
//! ```text
//!   header │ frame frame frame … │ INDEX frame │ trailer
//!             │
//!             ├─ table chunk: rows        strings, kinds, strengths, types, shapes, facts, sites, roots, totals, threads
//!             ├─ BLOCK: columns           objects and references
//!             └─ COMMIT                   ends a snapshot, says where its blocks are
//! ```
//!
//! ```
//! use barrow_format::block::{Block, BlockColumns, Decoder, Encoder, ShapeForm, ColumnSelection};
//! use barrow_format::codec::Compression;
//! use barrow_format::frame::{Frame, SectionType, encode_frame};
//! use barrow_format::ShapeId;
//!
//! // Two objects of one shape, whose objects have one reference: 0 → 1 and 1 → 0.
//! let forms = [ShapeForm { prefix: 1, ..ShapeForm::default() }];
//! let mut columns = BlockColumns {
//!     dictionary: vec![ShapeId(0)],
//!     forms: forms.to_vec(),
//!     shapes: vec![0, 0],
//!     shallow_bytes: vec![16, 16],
//!     counts: vec![1, 1],
//!     targets: vec![1, 0],
//!     ..BlockColumns::default()
//! };
//! let mut encoder = Encoder::new(Compression::Zstd(1))?;
//! let (directory, body) = encoder.encode(&mut columns)?;
//! let bytes = encode_frame(SectionType::BLOCK, 0, 0, &directory, body);
//!
//! let block = Block::parse(&Frame::parse(&bytes, 0)?)?;
//! let mut decoded = BlockColumns::default();
//! Decoder::new().decode(&block, &forms, 2, ColumnSelection::All, &mut decoded)?;
//! assert_eq!(decoded, columns);
//! # Ok::<(), barrow_format::FormatError>(())
//! ```
//!
//! Reading order: [`header`], [`frame`], [`rows`] (tables), [`block`] with [`varint`] and [`codec`],
//! [`commit`] with [`chain`], [`index`]; [`patch`] is what encoders of patches share; [`fields`] reads what is not in a column;
//! [`signals`] names the signals whose numbers rows hold.

#![deny(unsafe_code)]
#![cfg_attr(
    not(test),
    deny(clippy::indexing_slicing, clippy::unwrap_used, clippy::expect_used, clippy::cast_possible_truncation)
)]

pub mod block;
pub mod chain;
pub mod codec;
pub mod commit;
mod error;
pub mod fields;
pub mod frame;
pub mod header;
mod ids;
pub mod index;
mod numbered;
pub mod patch;
pub mod rows;
pub mod signals;
pub mod varint;

pub use error::{FormatError, Result};
pub use ids::{
    FieldId, KindId, MetricId, ObjectId, ProcessId, RunId, ShapeId, SiteId, SnapshotId, StrengthId, StringId, TypeId,
    VariantId,
};

/// The README, whose example is compiled and run with those of this crate.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
