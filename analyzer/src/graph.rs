//! The graph of one snapshot and its algorithms: adjacency, reachability, distances, dominators.

pub(crate) mod adjacency;
pub(crate) mod distances;
pub(crate) mod dominators;
pub(crate) mod ephemerons;
pub(crate) mod exclusion;
pub(crate) mod frontier;
pub(crate) mod incoming;
pub(crate) mod jointly_retained;
pub(crate) mod object_runs;
pub(crate) mod object_set;
pub(crate) mod partial_set;
pub(crate) mod ranks;
pub(crate) mod reachable;
pub(crate) mod roots;
pub(crate) mod shared_rows;
pub(crate) mod transposed;
