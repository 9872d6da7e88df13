//! Line tables against what Python reads from them.

#[path = "../src/sites/lines.rs"]
mod lines;
mod python;

use lines::{LineFormat, Location, locate};
use python::{Python, said};

/// Each code object of some modules: its table, then line and column of every instruction.
const PROGRAM: &str = "
import sys, argparse, ast, dis, json.decoder, threading, types
def codes(code):
    yield code
    for part in code.co_consts:
        if isinstance(part, types.CodeType): yield from codes(part)
for module in (argparse, json.decoder, threading, ast):
    code = compile(open(module.__file__, encoding='utf8').read(), module.__file__, 'exec')
    for code in codes(code):
        count = len(code.co_code) // 2
        if sys.version_info >= (3, 11):
            places = [(line, column) for line, _, column, _ in code.co_positions()]
        elif sys.version_info >= (3, 10):
            places = [None] * count
            for begin, end, line in code.co_lines():
                places[begin // 2:end // 2] = [(line, None)] * ((end - begin) // 2)
        else:
            places, line, starts = [], code.co_firstlineno, dict(dis.findlinestarts(code))
            for place in range(count):
                line = starts.get(2 * place, line)
                places.append((line, None))
        table = code.co_linetable if sys.version_info >= (3, 10) else code.co_lnotab
        print(code.co_firstlineno, table.hex() or '-', *('%s:%s' % place for place in places))
";

#[test]
fn every_instruction_is_where_python_says() {
    let Some(python) = Python::find() else { return };
    let said = said(&python.command().args(["-c", PROGRAM]).output().expect("a Python"));
    let format = match python.minor() {
        9 => LineFormat::Increments,
        10 => LineFormat::Ranges,
        _ => LineFormat::Locations,
    };
    let mut instructions = 0;
    for line in said.lines() {
        let mut words = line.split(' ');
        let first_line = words.next().expect("a line").parse().expect("a number");
        let hex = words.next().expect("a table").trim_start_matches('-');
        let byte = |place: usize| u8::from_str_radix(&hex[place..place + 2], 16).expect("hexadecimal");
        let table: Vec<u8> = (0..hex.len()).step_by(2).map(byte).collect();
        for (instruction, place) in (0..).zip(words) {
            let (line, column) = place.split_once(':').expect("a place");
            let column = column.parse::<u32>().ok().map(|column| column + 1);
            let expected = Location { line: line.parse().ok(), column };
            assert_eq!(locate(format, &table, first_line, instruction), expected, "{instruction} of {table:?}");
            instructions += 1;
        }
    }
    assert!(instructions > 10_000, "{instructions}");
}
