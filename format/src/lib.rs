//! What the bytes of a barrow recording mean.
pub mod block;
pub mod codec;
pub mod commit;
pub mod error;
pub mod fields;
pub mod frame;
pub mod header;
pub mod ids;
pub mod index;
pub mod rows;
pub mod varint;
pub use error::{FormatError, Result};
pub use ids::*;
