//! Values that are computed when they are first needed.

use std::sync::OnceLock;

use crate::error::Result;

/// A value that is computed once, on the first call that needs it, and then kept.
///
/// Unlike [`OnceLock::get_or_init`], computing may fail, and it holds no lock: threads that need the value at the
/// same time may each compute it. The first one to finish stores its result, and all of them return that one.
#[derive(Debug)]
pub(crate) struct Lazy<T>(OnceLock<T>);

impl<T> Default for Lazy<T> {
    fn default() -> Self {
        Lazy(OnceLock::new())
    }
}

impl<T> Lazy<T> {
    /// The value, if it was computed before.
    pub(crate) fn get(&self) -> Option<&T> {
        self.0.get()
    }

    /// Stores a value, unless there is one already. Returns the one that is stored.
    pub(crate) fn store(&self, value: T) -> &T {
        self.0.get_or_init(|| value)
    }

    /// The value. Calls `compute` if there is none.
    ///
    /// # Errors
    /// That of `compute`; then nothing is stored.
    pub(crate) fn get_or_compute(&self, compute: impl FnOnce() -> Result<T>) -> Result<&T> {
        match self.0.get() {
            Some(value) => Ok(value),
            None => Ok(self.store(compute()?)),
        }
    }

    /// The value. Calls `find` if there is none; that may find none either.
    pub(crate) fn get_or_find(&self, find: impl FnOnce() -> Option<T>) -> Option<&T> {
        self.0.get().or_else(|| Some(self.store(find()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::AnalyzerError;

    #[test]
    fn a_value_is_computed_once_and_a_failure_is_not_kept() {
        let lazy = Lazy::default();
        assert!(lazy.get_or_compute(|| Err(AnalyzerError::Cancelled)).is_err());
        assert_eq!((lazy.get(), lazy.get_or_find(|| None)), (None, None));
        assert_eq!(lazy.get_or_compute(|| Ok(7)).unwrap(), &7);
        assert_eq!(lazy.get_or_compute(|| Err(AnalyzerError::Cancelled)).unwrap(), &7);
        assert_eq!((lazy.get_or_find(|| Some(8)), lazy.store(9)), (Some(&7), &7));
    }
}
