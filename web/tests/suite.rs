//! Tests in one program: it is linked once, and its tests run beside each other.

mod access;
mod answers;
mod browser;
mod hostile_requests;
mod refusals;
mod served_files;
