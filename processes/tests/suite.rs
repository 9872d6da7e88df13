//! Tests in one program: it is linked once, and its tests run beside each other.

mod builds;
mod classes;
mod critical;
mod expressions;
mod knowledge;
mod lanes;
mod replay;
mod timeline;
mod totals;
mod trees;
