//! Dumps of one JSON object per line, imported and read back: Ruby's and CPython's.

mod cuts;
mod dumps;
mod python;
mod python_keys;
mod python_outside;
mod recorded;
mod ruby;
mod ruby_variables;
mod samples;
