//! Compares the varint decoders: the vector kernel for this processor, the scalar version, and the `leb128` crate, on
//! columns like those of real blocks.

use barrow_benches::{Amount, measure};
use barrow_format::varint::{decode_u32, put, scalar};
use barrow_testdata::Random;
use std::hint::black_box;

const VALUES: usize = 65_536;
const REPEATS: usize = 50;

/// A column of values that take one, two, three or more bytes, with these weights.
fn column(weights: &[u64]) -> Vec<u8> {
    let mut random = Random::new(1);
    let total = weights.iter().sum();
    let mut bytes = Vec::new();
    for _ in 0..VALUES {
        let mut pick = random.below(total);
        let length = weights.iter().position(|&weight| {
            let is_here = pick < weight;
            pick = pick.saturating_sub(weight);
            is_here
        });
        let length = length.unwrap_or(0) as u32;
        let low = if length == 0 { 0 } else { 1u64 << (7 * length) };
        put(&mut bytes, low + random.below((1u64 << (7 * (length + 1))).min(1 << 32) - low));
    }
    bytes
}

fn main() {
    for (name, weights) in [
        ("one byte each (counts, shapes)", &[1][..]),
        ("references, predicted (80 % one byte)", &[80, 13, 7]),
        ("references, unpredicted (2.6 bytes)", &[10, 20, 70]),
        ("any length", &[1, 1, 1, 1, 1]),
    ] {
        let bytes = column(weights);
        let amounts = [
            Amount { count: (VALUES * REPEATS) as u64, unit: "integers" },
            Amount { count: (bytes.len() * REPEATS) as u64, unit: "bytes" },
        ];
        println!("{name}: {:.2} bytes each", bytes.len() as f64 / VALUES as f64);
        let mut out = Vec::new();
        measure("  barrow, fastest here", &amounts, || {
            for _ in 0..REPEATS {
                decode_u32("bench", black_box(&bytes), VALUES, &mut out).expect("the column is valid");
            }
        });
        measure("  barrow, scalar", &amounts, || {
            for _ in 0..REPEATS {
                scalar::decode_u32("bench", black_box(&bytes), VALUES, &mut out).expect("the column is valid");
            }
        });
        measure("  leb128 crate", &amounts, || {
            for _ in 0..REPEATS {
                let mut rest = black_box(bytes.as_slice());
                for value in &mut out {
                    *value = leb128::read::unsigned(&mut rest).expect("the column is valid") as u32;
                }
            }
        });
    }
}
