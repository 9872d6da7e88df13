//! Tests in one program: it is linked once, and its tests run beside each other.

mod architecture;
mod assertions;
mod circles;
mod class_spans;
mod dominators;
mod dump_order;
mod exit_codes;
mod export;
mod hostile_names;
mod manual;
mod object_lines;
mod process_expressions;
mod program;
mod recipes;
mod recorded_in_part;
mod redact;
mod repack;
mod resolve;
mod sessions;
mod unknown_facts;
mod verdicts;
mod version;
mod whole;
mod widths;
