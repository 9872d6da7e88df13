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
//! Reading order: [`Recording`] (with `contents`: index or scan; and [`Tables`]), [`Growing`] while it is
//! written, `blocks` (decoding on all cores; with `layers` and `live_rows` where a snapshot is a patch) and [`Heap`], the
//! graph of one snapshot. Below it, from the bytes up:
//! `memory` and `values` (columns), `packed`, `rows` and `transposed` (references), `frontier`, `reachable`, `distances`,
//! `dominators`, `index_file`. Then a file for each question: `summary`, `diff`, `object`, `incoming`, `find` with
//! `expression` and `object_set`, `paths`, `retained`, `without`, `leaks` with `fingerprint`, `type_references`,
//! `duplicates`, `texts`, `waste`, `threads`, `trend` and `growth` over a series, `lives` of objects with `identity` (`whole`, `matching`,
//! `alignment`), `verify`; and what writes recordings anew: `copy`, `repair`, `repack`.

#![deny(unsafe_code)]

mod address_order;
mod alignment;
mod atomic;
mod blocks;
mod bytes;
mod contents;
mod copy;
mod diff;
mod distances;
mod dominators;
mod duplicates;
mod error;
mod expression;
mod find;
mod fingerprint;
mod frontier;
mod growing;
mod growth;
mod heap;
mod identity;
mod incoming;
mod index_file;
mod judgement;
mod layers;
mod leaks;
mod live_rows;
mod lives;
mod lookup;
mod matching;
mod memory;
mod object;
mod object_set;
mod packed;
mod partial_set;
mod paths;
mod prefetch;
mod progress;
mod reachable;
mod recording;
mod referrers;
mod repack;
mod repair;
mod retained;
mod roots;
mod rows;
mod shared;
mod site_totals;
mod sites;
mod strings;
mod summary;
mod tables;
mod temporary;
mod texts;
mod threads;
mod transposed;
mod trend;
mod type_references;
mod values;
mod verify;
mod waste;
mod whole;
mod without;

pub use barrow_format::commit::Totals;
pub use barrow_format::header::MAGIC as RECORDING_MAGIC;
pub use barrow_format::rows::{KindRole, Label, Root, StrengthClass, Thread, TypeTotals};
pub use barrow_format::{FormatError, KindId, ObjectId, SiteId, SnapshotId, StrengthId, StringId, TypeId};
pub use contents::{Damage, LostSnapshot};
pub use diff::{Amounts, Diff, KindChange, Side, TypeChange, TypeIdentity, diff};
pub use distances::Distances;
pub use dominators::{Below, Canopy, Dominators, GroupRetained, Holder, Largest, Rank, Tree, TreePlace, WantedBelow};
pub use duplicates::Duplicates;
pub use error::{AnalyzerError, Result};
pub use expression::{ATTRIBUTES, Expression, ExpressionError, Names, parse_size};
pub use find::{Counted, Found, Page};
pub use fingerprint::Fingerprint;
pub use growing::{Growing, Look};
pub use growth::{Growth, GrowthNode, GrowthPart, GrowthRow, growth};
pub use heap::Heap;
pub use identity::{SerialOrigin, SerialWalk, SnapshotSerials};
pub use incoming::Incoming;
pub use index_file::IndexPlace;
pub use judgement::{FALSE_ALARMS, Judgement, LEAST_POINTS, PathJudgement, Reason, SURE_POINTS, Verdict, judge_paths};
pub use leaks::{Accumulated, LEAK_THRESHOLD, Suspect};
pub use lives::{Between, CountBounds, LifeStep, Lives, Turnover};
pub use matching::Pairing;
pub use memory::Memory;
pub use object::{ObjectDetails, Reference, object, object_at_address, objects, outgoing, outgoing_page, walk};
pub use object_set::ObjectSet;
pub use paths::{MergedNode, MergedPaths, Path, PathOptions, Step};
pub use progress::{Progress, Silent};
pub use recording::{Recording, SnapshotInfo};
pub use referrers::{IncomingReference, Referrers};
pub use repack::{RepackOptions, Repacked, RepackedSnapshot, repack};
pub use repair::{KeptSnapshot, LeftOut, Repaired, repair};
pub use roots::{RootCategory, Roots};
pub use rows::Follow;
pub use sites::SiteDetails;
pub use summary::{KindTotals, Source, Summary, summary, type_totals, verified_summaries};
pub use tables::Tables;
pub use texts::{TextPattern, TextTotals};
pub use threads::{ThreadChange, ThreadRoots, Threads};
pub use trend::{CONFIDENCE, Trend};
pub use type_references::TypeReferences;
pub use verify::{Problem, SnapshotVerification, Verification, verify};
pub use waste::{ELEMENT_BYTES, Waste};
pub use without::{Cut, Without};
