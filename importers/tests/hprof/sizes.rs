//! The elements of collections that have no field with their number, against what `size()` of a running program returned.

use std::collections::BTreeMap;

use barrow_analyzer::{Expression, Silent};

use crate::live::{Cases, cases};

#[test]
fn collections_have_as_many_elements_as_size_returned() {
    let Some(Cases { heap, cases, lines, .. }) = cases("Sizes") else { return };
    let printed = lines.iter().map(|line| line.split_once('\t').expect("a name and a number"));
    let printed: BTreeMap<&str, u64> = printed.map(|(name, size)| (name, size.parse().expect("a number"))).collect();
    assert_eq!(printed.len(), 38);
    for (name, held) in &cases {
        let set = heap.select(&[], &Expression::parse(&format!("id = {}", held.0)).expect("an id"), &Silent);
        let fillings = heap.fillings(&set.expect("an object").0, &Silent).expect("fillings");
        // A part of a tree says where it begins and ends.
        let expected = (name != "tail of a tree").then(|| printed[name.as_str()]);
        assert_eq!(fillings[0].elements, expected, "{name}");
    }
    let expression = Expression::parse("elements > 1000000").expect("an expression");
    let doubts = heap.doubts(&[], &expression, &Silent).expect("doubts");
    assert!(doubts.counted.objects > 0, "the part of the tree may hold more");
}
