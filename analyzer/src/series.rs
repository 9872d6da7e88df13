//! Questions over several snapshots: differences, trends, and lives of objects.

pub(crate) mod address_order;
pub(crate) mod alignment;
pub(crate) mod at_once;
pub(crate) mod diff;
pub(crate) mod growth;
pub(crate) mod identity;
pub(crate) mod kept;
pub(crate) mod life_table;
pub(crate) mod lives;
pub(crate) mod loaded_snapshot;
pub(crate) mod matched;
pub(crate) mod matching;
pub(crate) mod serials;
pub(crate) mod survival;
pub(crate) mod trend;
pub(crate) mod turnover;
