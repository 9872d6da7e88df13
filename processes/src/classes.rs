//! Classes: each image gets a label in each of several *schemata*, such as `compiler` by category and `cc1` by program.
//!
//! ```text
//!   image                  category   program   directory   unit
//!   gcc -c a.c in /src     compiler   gcc       src         a.c
//!   ld -o a  in /src       linker     ld        src         a
//!   true                   true       true      src         (ignored)
//! ```
//!
//! [`Rules`] come from a file of TOML; `default.toml` is used without one. The first schema labels the tree.

mod command;
mod file;
mod labelling;
mod patterns;
mod rules;
mod template;

pub use labelling::Labeller;
pub use rules::{Evaluation, Rules};

use crate::error::Result;
use crate::tree::{ImageId, ProcessTree};

/// A label of a schema, as a position among its labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LabelId(pub u32);

impl LabelId {
    /// The id as a position.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Marks images that the schema ignores: they have no label.
const IGNORED: u32 = u32::MAX;

/// The labels of all images, by schema.
#[derive(Debug, Clone)]
pub struct Classes {
    schemata: Vec<Schema>,
}

/// A schema with the labels it assigned.
#[derive(Debug, Clone)]
pub struct Schema {
    name: String,
    labels: Vec<String>,
    of_images: Vec<u32>,
}

impl Classes {
    /// Labels every image. Each program is labelled once, in parallel.
    ///
    /// # Errors
    /// [`ProcessError::Rules`](crate::ProcessError::Rules): a label of the user's rules takes more than 4 KiB with what it
    /// captured. Default rules, which have no errors, cut it.
    pub fn of(tree: &ProcessTree, rules: &Rules) -> Result<Self> {
        Classes::only(tree, rules, |_| true)
    }

    /// The same for the wanted schemata and those whose labels they test. The others have no labels.
    ///
    /// # Errors
    /// As for [`Classes::of`].
    pub fn only(tree: &ProcessTree, rules: &Rules, wanted: impl Fn(usize) -> bool) -> Result<Self> {
        let labelled = labelling::of(tree, rules, &rules.order_of(wanted))?;
        let schemata = rules.schema_names().zip(labelled).map(|(name, labelled)| {
            let labelling::SchemaLabels { labels, of_images } = labelled;
            Schema { name: name.to_owned(), labels, of_images }.in_order_of_start(tree)
        });
        Ok(Classes { schemata: schemata.collect() })
    }

    /// All schemata. There is at least one; the first labels the tree.
    #[must_use]
    pub fn schemata(&self) -> &[Schema] {
        &self.schemata
    }

    /// The schema that labels the tree.
    #[must_use]
    pub fn first(&self) -> &Schema {
        &self.schemata[0]
    }

    /// The schema with this name.
    #[must_use]
    pub fn schema(&self, name: &str) -> Option<&Schema> {
        self.schemata.iter().find(|schema| schema.name == name)
    }
}

impl Schema {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The label of an image; `None` if the schema ignores it.
    #[must_use]
    pub fn label(&self, image: ImageId) -> Option<LabelId> {
        let label = self.of_images[image.index()];
        (label != IGNORED).then_some(LabelId(label))
    }

    /// The labels, in the order in which the first image of each started.
    #[must_use]
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// Number of labels of default rules that were cut because a text of the program made them longer than a label may
    /// be. Labels that agree up to the cut count as one.
    #[must_use]
    pub fn cut_labels(&self) -> usize {
        self.labels.iter().filter(|label| labelling::is_cut(label)).count()
    }

    /// The text of a label.
    #[must_use]
    pub fn text(&self, label: LabelId) -> &str {
        &self.labels[label.index()]
    }

    /// The text of the label of an image.
    #[must_use]
    pub fn class(&self, image: ImageId) -> Option<&str> {
        self.label(image).map(|label| self.text(label))
    }

    fn in_order_of_start(mut self, tree: &ProcessTree) -> Self {
        let mut first = vec![(i64::MAX, usize::MAX); self.labels.len()];
        for (at, image) in tree.images().iter().enumerate() {
            if let Some(first) = first.get_mut(self.of_images[at] as usize) {
                *first = (*first).min((image.began_ns, at));
            }
        }
        // Programs that no image runs are left out: a forked process executed another one at once.
        let mut order: Vec<usize> = (0..self.labels.len()).filter(|&label| first[label].1 != usize::MAX).collect();
        order.sort_unstable_by_key(|&label| first[label]);
        let mut renamed = vec![IGNORED; self.labels.len()];
        (0..).zip(&order).for_each(|(new, &old)| renamed[old] = new);
        self.of_images.iter_mut().filter(|label| **label != IGNORED).for_each(|label| {
            *label = renamed[*label as usize];
        });
        self.labels = order.iter().map(|&old| std::mem::take(&mut self.labels[old])).collect();
        self
    }
}
