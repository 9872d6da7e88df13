//! Measured values: results of benchmark runners, and tables of values.

pub(crate) mod benchmark_dotnet;
pub(crate) mod criterion;
pub(crate) mod csv_values;
pub(crate) mod dhat;
pub(crate) mod go_benchmarks;
pub(crate) mod google_benchmark;
pub(crate) mod hyperfine;
pub(crate) mod jmh;
pub(crate) mod massif;
pub(crate) mod measurements;
pub(crate) mod pyperf;
pub(crate) mod pytest_benchmark;
pub(crate) mod read_value;
