#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| barrow_fuzz::damaged_ruby(bytes));
