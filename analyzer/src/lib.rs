//! Answers questions about a barrow recording, using all cores.
//!
//! ```text
//!   file ─ map ─▶ Recording ─┬─ index, commits ──▶ snapshots, summary, diff      reads kilobytes
//!                            ├─ tables ──────────▶ names, types, shapes          read once, when needed
//!                            └─ blocks ──────────▶ find, count, object, verify   reads what is needed,
//!                                 (each decodes on its own, on any thread)         in parallel
//! ```
//!
//! ```
//! use barrow_analyzer::{Expression, Heap, IndexPlace, Memory, ObjectId, Recording, Silent, summary};
//! # use std::sync::Arc;
//! # use barrow_writer::{KindRole, Object, Options, SnapshotInfo, TypeDescription, Writer};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("two.barrow");
//! # let writer = Writer::create(&path, Options::default())?;
//! # let kind = writer.kind("object", KindRole::Object)?;
//! # let pair = writer.declare_type(&TypeDescription::new(kind, "Pair"))?;
//! # let snapshot = writer.begin_snapshot(SnapshotInfo::default())?;
//! # let mut shard = snapshot.shard();
//! # use barrow_writer::{Label, StrengthId};
//! # shard.root(writer.string("globals")?, None, 0)?;
//! # shard.object(0, &Object::new(pair, 32))?;
//! # shard.reference(Label::Index(0), StrengthId::STRONG, 1)?;
//! # shard.object(1, &Object::new(pair, 48))?;
//! # shard.finish()?;
//! # snapshot.commit()?;
//! # writer.finish()?;
//! let recording = Arc::new(Recording::open(&path)?);
//! let last = recording.snapshot_ids().last().ok_or("no snapshot")?;
//! assert_eq!(summary(&recording, last)?.totals.heap_bytes, 80);
//!
//! let heap = Heap::new(recording, last, &IndexPlace::Nowhere, Memory::unlimited())?;
//! let large = Expression::parse("type = \"Pair\" and size > 40")?;
//! assert_eq!(heap.count(&[], &large, &Silent)?.objects, 1);
//! // Object 0 is a root and refers to object 1.
//! assert_eq!(heap.dominators(&Silent)?.retained_bytes(ObjectId(0)), 80);
//! # Ok(())
//! # }
//! ```
//!
//! Reading order, a folder each, from the bytes up:
//!
//! | folder | contents |
//! |---|---|
//! | `file` | the contents of a file: [`Recording`] (with `contents`: index or scan), [`Tables`], [`Growing`] while it is written, and `blocks`, decoded on all cores, with `patched_snapshot`, `patch_chain`, `patch_merge` and `live_rows` where a snapshot is a patch |
//! | `columns` | columns of numbers: in memory or in temporary files (`memory`, `values`), packed, and kept in the `index_file` |
//! | `graph` | the graph of one snapshot and its algorithms: references both ways (`adjacency`, `transposed`), `reachable`, `distances`, `dominators`, `jointly_retained` |
//! | `heap` | [`Heap`], the graph of one snapshot: columns that are computed when a question first needs them |
//! | `questions` | a file for each question about one snapshot: `summary`, `find` with `expression`, `paths`, `leaks` and so on |
//! | `series` | several snapshots: `diff`, `growth` by path, `lives` of objects; `barrow_statistics` judges what grows |
//!
//! `verify` checks a whole file. Computations share `Run` and `Lazy`. [`raw`] is for programs that rewrite recordings.

#![deny(unsafe_code)]

mod columns;
mod error;
mod file;
mod graph;
mod heap;
mod lazy;
mod progress;
mod questions;
pub mod raw;
mod run;
mod series;
mod verify;

pub use barrow_expressions::{
    Amount, AmountUnit, Decimal, ExpressionError, Number, Reader, nearest, parse_duration, parse_size,
};
pub use barrow_format::commit::Totals;
pub use barrow_format::header::{
    MAGIC as RECORDING_MAGIC, MAJOR_VERSION as FORMAT_MAJOR_VERSION, MINOR_VERSION as FORMAT_MINOR_VERSION,
};
pub use barrow_format::rows::{
    Better, Failure, KindRole, Label, MeasurementRow, ProcessRow, Program, Root, StrengthClass, Thread, TypeTotals,
    Usage,
};
pub use barrow_format::rows::{Encoding as FieldEncoding, Value as FieldValue};
pub use barrow_format::signals;
pub use barrow_format::{
    FormatError, KindId, MetricId, ObjectId, ProcessId, RunId, SiteId, SnapshotId, StrengthId, StringId, TypeId,
    VariantId,
};
pub use barrow_statistics::{FALSE_ALARMS, Judgement, LEAST_POINTS, Reason, SURE_POINTS, Trend, Verdict};
pub use columns::index_file::IndexPlace;
pub use columns::memory::Memory;
pub use error::{AnalyzerError, KnownFields, Result};
pub use file::contents::{Damage, LostSnapshot};
pub use file::growing::{Growing, Look};
pub use file::object::{ObjectDetails, Reference, object, object_at_address, objects, outgoing, outgoing_page, walk};
pub use file::processes::ProcessLog;
pub use file::recording::{REPLACED_NUMBERS, Recording, SOURCE_FORMAT, SnapshotInfo};
pub use file::sites::SiteDetails;
pub use file::tables::Tables;
pub use file::type_identity::TypeIdentity;
pub use graph::adjacency::Follow;
pub use graph::distances::Distances;
pub use graph::dominators::{
    Below, Canopy, Chain, Dominators, Folded, GroupRetained, Holder, Largest, Rank, Tree, TreePlace, UnderCanopy,
    WantedBelow,
};
pub use graph::exclusion::{Cut, Exclusion};
pub use graph::incoming::Incoming;
pub use graph::object_set::ObjectSet;
pub use graph::roots::{RootCategory, Roots};
pub use heap::{Heap, LineRules};
pub use progress::{Progress, Silent};
pub use questions::collections::{BoxedNumbers, CollectionType, Collections, Hashed, UniformArrays};
pub use questions::common::{CommonReferrers, FieldReferrer, ObjectReferrer};
pub use questions::duplicates::{DuplicateGroup, DuplicateGroups, Duplicates};
pub use questions::entries::{Entries, Entry, EntryKey};
pub use questions::expression::{ATTRIBUTES, Attribute, AttributeValue, Expression, Names, Quantity, TypeText};
pub use questions::fields::{FieldPath, Filling, Held, OWN_FIELDS, ObjectField};
pub use questions::find::{Counted, Doubts, FoundPage, Page};
pub use questions::fingerprint::Fingerprint;
pub use questions::frames::{FrameRoots, Frames, Local};
pub use questions::groups::{GroupKey, ObjectGroup, ObjectGroups, RetainedByGroups};
pub use questions::leaks::{Accumulated, Content, LEAK_THRESHOLD, Suspect};
pub use questions::lines::{Line, days_to_date};
pub use questions::loaders::{DuplicateClass, Loader, Loaders};
pub use questions::merged_paths::{MergedNode, MergedPaths};
pub use questions::numbers::{FieldNumber, NumberTotals, Time, order as number_order};
pub use questions::off_heap::{Buffers, OffHeap};
pub use questions::paths::{Path, PathOptions, Step};
pub use questions::ranking::RankOrder;
pub use questions::referrers::{IncomingReference, Referrers};
pub use questions::set_references::{Direction, FieldReferences, ObjectReferences};
pub use questions::shortened::is_shortened;
pub use questions::summary::{KindTotals, Source, Summary, by_kind, summary, type_totals, verified_summaries};
pub use questions::texts::{TextPattern, TextTotals, Texts};
pub use questions::threads::{ThreadChange, ThreadRoots, Threads};
pub use questions::type_references::TypeReferences;
pub use questions::type_steps::TypeStep;
pub use questions::type_tree::{NoStep, TypeNode, TypeTree, WantedTypes};
pub use questions::waste::{ELEMENT_BYTES, Waste};
pub use series::diff::{Amounts, Diff, KindChange, Side, TypeChange, diff};
pub use series::growth::{Growth, GrowthNode, GrowthPart, GrowthRow, growth, without_repeated};
pub use series::identity::{SerialOrigin, SerialWalk, SnapshotSerials};
pub use series::kept::SeriesOptions;
pub use series::lives::{Between, CountBounds, LifeStep, Lives};
pub use series::matching::Pairing;
pub use series::survival::{AgeCount, Survival};
pub use series::trend::{Moment, trend};
pub use series::turnover::{Turnover, Turnovers};
pub use verify::{Problem, SnapshotVerification, Verification, verify};

/// The README, whose example is compiled and run with those of this crate.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
