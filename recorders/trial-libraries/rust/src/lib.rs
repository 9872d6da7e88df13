//! Layouts inside a benchmark.
