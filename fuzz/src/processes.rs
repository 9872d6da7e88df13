//! Process trees and expressions about them.

use std::sync::{Arc, OnceLock};

use barrow_analyzer::Recording;
use barrow_processes::{
    Classes, Expression, ImageId, ImageNames, ImageSet, ProcessTree, Rules, Totals, class_peaks, class_totals, peak,
};
use barrow_testdata::{ProcessLog, Random};

/// Asks for everything that a tree tells.
pub(crate) fn ask(recording: &Arc<Recording>) -> barrow_processes::Result<()> {
    let tree = ProcessTree::read(Arc::clone(recording))?;
    let totals = Totals::of(&tree);
    assert_eq!(totals.walk().len(), tree.images().len());
    assert_eq!(totals.whole().images as usize, tree.images().len());
    assert!(peak(&tree).is_none_or(|peak| !tree.processes().is_empty() || peak.bytes == 0));
    let classes = Classes::of(&tree, Rules::standard()).unwrap();
    for schema in classes.schemata() {
        let labelled = (0..tree.images().len() as u32).filter(|&image| schema.label(ImageId(image)).is_some()).count();
        let counted: u64 = class_totals(&tree, &totals, schema).iter().map(|class| class.processes).sum();
        assert_eq!(counted, labelled as u64);
        assert_eq!(class_peaks(&tree, schema).len(), schema.labels().len());
    }
    for (number, process) in tree.processes().iter().enumerate() {
        let id = barrow_processes::ProcessId(number as u32);
        assert!(process.parent.is_none_or(|parent| parent < id));
        assert_eq!(tree.named(&tree.name(id)).ok(), Some(id));
    }
    Ok(())
}

/// Reads the bytes as an expression about processes, and selects those that match.
pub fn process_expression(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (tree, classes) = small();
    match Expression::parse_with(&text, &SmallNames) {
        Ok(expression) => {
            let found = expression.select(tree, Some(classes));
            let Ok(negated) = Expression::parse_with(&format!("not ({text})"), &SmallNames) else { return };
            let others = negated.select(tree, Some(classes));
            assert!(found.iter().all(|image| !others.contains(image)));
            assert_eq!(found.iter().count() + others.iter().count(), tree.images().len());
        }
        Err(error) => assert!(error.position <= text.len() && !error.message.is_empty()),
    }
}

/// `$a` is the second image; so is row 1.
struct SmallNames;

impl ImageNames for SmallNames {
    fn schemata(&self) -> Vec<String> {
        small().1.schemata().iter().map(|schema| schema.name().to_owned()).collect()
    }

    fn set(&self, name: &str) -> Result<Arc<ImageSet>, String> {
        if name == "a" { Ok(Arc::new([ImageId(1)].into_iter().collect())) } else { Err("no such name".to_owned()) }
    }

    fn row(&self, row: usize) -> Result<ImageId, String> {
        if row == 1 { Ok(ImageId(1)) } else { Err("no such row".to_owned()) }
    }
}

/// The tree of a small build, and its classes.
fn small() -> &'static (ProcessTree, Classes) {
    static SMALL: OnceLock<(ProcessTree, Classes)> = OnceLock::new();
    SMALL.get_or_init(|| {
        let log = ProcessLog::build(&mut Random::new(1), 60, 4);
        let recording = Recording::from_bytes(log.bytes()).expect("what the writer wrote");
        let tree = ProcessTree::read(Arc::new(recording)).expect("a whole recording");
        let classes = Classes::of(&tree, Rules::standard()).unwrap();
        (tree, classes)
    })
}
