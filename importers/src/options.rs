//! Options of an import.

use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::fmt;
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Arc;

use crate::contents::Contents;

/// Options of an import.
#[derive(Debug, Clone)]
pub struct ImportOptions {
    /// Number of threads that read the dump, for formats that several threads can read.
    pub threads: NonZero<usize>,
    /// The folder in which compressed dumps are unpacked, into temporary files without a name.
    pub folder: PathBuf,
    /// Maximum number of bytes that a compressed dump may unpack to. `None` means 1 GiB or 10,000 times its length,
    /// whichever is more. With any value, some space is left on the disk.
    pub max_unpacked: Option<u64>,
    /// The extent to which contents of objects are recorded.
    pub contents: Contents,
    /// Options that only some formats have.
    pub of_formats: FormatOptions,
}

impl Default for ImportOptions {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
        let of_formats = FormatOptions::default();
        ImportOptions {
            threads,
            folder: std::env::temp_dir(),
            max_unpacked: None,
            contents: Contents::default(),
            of_formats,
        }
    }
}

/// Options that only some formats have, at most one value of each type.
///
/// The type belongs to the format: [`ObjectLayout`](crate::ObjectLayout) is an option of HPROF dumps. Other formats
/// ignore it.
#[derive(Clone, Default)]
pub struct FormatOptions {
    values: HashMap<TypeId, (&'static str, Arc<dyn Any + Send + Sync>)>,
}

impl FormatOptions {
    /// Sets an option; replaces an earlier value of the same type.
    pub fn set<T: Any + Send + Sync>(&mut self, value: T) {
        self.values.insert(TypeId::of::<T>(), (type_name::<T>(), Arc::new(value)));
    }

    /// The option of this type, if it was set.
    #[must_use]
    pub fn get<T: Any>(&self) -> Option<&T> {
        let (_, value) = self.values.get(&TypeId::of::<T>())?;
        value.downcast_ref()
    }
}

impl fmt::Debug for FormatOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.values.values().map(|(name, _)| name)).finish()
    }
}
