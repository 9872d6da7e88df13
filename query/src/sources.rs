//! Where recordings come from: files, pipes, dumps that are imported, and the cache of those.

pub(crate) mod background;
pub(crate) mod cache;
pub(crate) mod counted;
pub(crate) mod counting;
pub(crate) mod destination;
pub(crate) mod dump_order;
pub(crate) mod dump_series;
pub(crate) mod folders;
pub(crate) mod import_facts;
pub(crate) mod importing;
pub(crate) mod opening;
pub(crate) mod recognition;
pub(crate) mod spool;
