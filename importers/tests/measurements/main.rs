//! Values that benchmarks and profilers of heaps wrote.

mod cuts;
mod forms;
mod languages;
mod ranges;
mod recorded;
mod samples;
mod series;
