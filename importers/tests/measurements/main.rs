//! Values that benchmarks and profilers of heaps wrote.

mod cuts;
mod forms;
mod recorded;
mod samples;
mod series;
