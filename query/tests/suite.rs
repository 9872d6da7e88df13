//! Tests in one program: it is linked once, and its tests run beside each other.

mod aggregates;
mod asking;
mod attributes;
mod comparisons;
mod completion;
mod early;
mod example;
mod library;
mod lying_processes;
mod progress;
mod trial_answers;
mod unknown;
mod unmanaged;
mod windows;
