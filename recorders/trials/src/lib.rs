//! Records trials.
#![cfg(target_os = "linux")]
