//! Numbers of images: recorded ones, and those derived from the starters of processes.

use crate::tree::{Image, ImageId, ProcessTree};

use super::{Attribute, Reading};

/// The place of a number in a tree.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Source {
    /// Read from the image or its process.
    Own(fn(&ProcessTree, ImageId, &Image) -> Option<u64>),
    /// The sum over the image and all images below it.
    Total(fn(&ProcessTree, &Image) -> Option<u64>),
    /// Derived from the starters of all processes.
    Starters(fn(&ProcessTree) -> Vec<Option<u64>>),
}

/// A number for each image.
pub(crate) enum Column {
    /// Read from the image or its process.
    Recorded(fn(&ProcessTree, ImageId, &Image) -> Option<u64>),
    /// By the number of the image.
    Computed(Vec<Option<u64>>),
}

impl Column {
    /// The column of an attribute, if that is a number; columns that depend on other images are computed now.
    pub(crate) fn of(attribute: &Attribute, tree: &ProcessTree) -> Option<Self> {
        let (Reading::Number(_, source) | Reading::Either(_, _, source)) = attribute.reading else { return None };
        if !(attribute.is_told)(&tree.knowledge()) {
            return Some(Column::Recorded(|_, _, _| None));
        }
        Some(match source {
            Source::Own(own) => Column::Recorded(own),
            Source::Total(own) => Column::Computed(totals(tree, |id| own(tree, tree.image(id)))),
            Source::Starters(column) => Column::Computed(column(tree)),
        })
    }

    /// The number of an image, if known.
    pub(crate) fn get(&self, tree: &ProcessTree, id: ImageId) -> Option<u64> {
        match self {
            Column::Recorded(of) => of(tree, id, tree.image(id)),
            Column::Computed(values) => values[id.index()],
        }
    }
}

/// Times before the start of the recording count as its start.
pub(super) fn since_beginning(time_ns: i64) -> u64 {
    u64::try_from(time_ns).unwrap_or(0)
}

/// For each image, the number of processes it started.
pub(super) fn children(tree: &ProcessTree) -> Vec<Option<u64>> {
    let mut children = vec![Some(0); tree.images().len()];
    for starter in tree.processes().iter().filter_map(|process| process.started_by) {
        add(&mut children[starter.index()], Some(1));
    }
    children
}

/// For each image, the number of processes it started directly or indirectly.
pub(super) fn descendants(tree: &ProcessTree) -> Vec<Option<u64>> {
    let mut descendants = vec![Some(0); tree.images().len()];
    // Children began after the image that started them.
    for process in tree.processes().iter().rev() {
        let Some(starter) = process.started_by else { continue };
        let mut below = Some(1);
        let mut image = Some(process.first_image);
        while let Some(id) = image {
            add(&mut below, descendants[id.index()]);
            image = tree.image(id).next;
        }
        add(&mut descendants[starter.index()], below);
    }
    descendants
}

/// For each image, the number of ancestors of its process.
pub(super) fn depths(tree: &ProcessTree) -> Vec<Option<u64>> {
    let mut of_process: Vec<u64> = Vec::with_capacity(tree.processes().len());
    for process in tree.processes() {
        of_process.push(process.parent.map_or(0, |parent| of_process[parent.index()] + 1));
    }
    tree.images().iter().map(|image| Some(of_process[image.process.index()])).collect()
}

/// For each image, the sum of the known values of it and all images below it; unknown if none of them is known.
pub(super) fn totals(tree: &ProcessTree, own: impl Fn(ImageId) -> Option<u64>) -> Vec<Option<u64>> {
    let mut totals: Vec<Option<u64>> = tree.image_ids().map(own).collect();
    // Images below an image began after it.
    for (number, id) in tree.image_ids().enumerate().rev() {
        if let Some(starter) = tree.started_by(id) {
            let below = totals[number];
            add(&mut totals[starter.index()], below);
        }
    }
    totals
}

fn add(sum: &mut Option<u64>, more: Option<u64>) {
    *sum = match (*sum, more) {
        (Some(sum), Some(more)) => Some(sum.saturating_add(more)),
        (sum, more) => sum.or(more),
    };
}
