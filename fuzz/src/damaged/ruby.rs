//! Ruby's heap dumps, a line for each object.

use super::choices::Choices;
use super::lines::Harm;
use super::objects::assert_part;

const CLASSES: [&str; 3] = ["Node", "Pair", "Empty"];

/// Makes a dump as the bytes say, damages lines as they say, and imports it.
///
/// # Panics
/// If what is recovered is no part of what was made.
pub fn damaged_ruby(input: &[u8]) {
    let choices = &mut Choices::new(input);
    let mut lines = vec![r#"{"type":"ROOT","root":"vm","references":["0x100","0x1000"]}"#.to_owned()];
    for (number, name) in CLASSES.iter().enumerate() {
        let (address, bytes) = (0x100 + 8 * number, 500 + number);
        lines.push(format!(r#"{{"address":"{address:#x}","type":"CLASS","name":"{name}","memsize":{bytes}}}"#));
    }
    for number in 0..1 + choices.up_to(20) {
        let (address, class) = (0x1000 + 64 * number, 0x100 + 8 * choices.below(CLASSES.len()));
        let targets: Vec<String> =
            (0..choices.up_to(3)).map(|_| format!(r#""{:#x}""#, 0x1000 + 64 * choices.up_to(20))).collect();
        let rest = match choices.byte() % 3 {
            0 => format!(r#""type":"STRING","bytesize":3,"value":"é\\u00{:02x}","#, choices.byte()),
            1 => r#""type":"ARRAY","length":2,"#.to_owned(),
            _ => r#""type":"OBJECT","ivars":3,"#.to_owned(),
        };
        let (targets, bytes) = (targets.join(","), 40 + 8 * number);
        lines.push(format!(
            r#"{{"address":"{address:#x}",{rest}"class":"{class:#x}","references":[{targets}],"memsize":{bytes}}}"#
        ));
    }
    let whole: String = lines.iter().map(|line| format!("{line}\n")).collect();
    // Without one of these signs a line is no object, whatever else changes: two quotes would only be another text.
    let damaged =
        Harm { breaks: true, kept_fields: 0, changes: |byte| b"{}[]:".contains(byte) }.damage(&lines, choices);
    assert_part(whole.as_bytes(), &damaged, |object| object.address, input);
}
