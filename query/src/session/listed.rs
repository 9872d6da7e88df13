//! The rows of the last table, which `%` names: objects or processes.

use std::ops::Deref;

use barrow_analyzer::{ObjectId, SnapshotId};
use barrow_processes::ImageId;

/// The objects or images in the rows of the last table; `%1` is the first. It dereferences to its objects.
#[derive(Debug, Clone, Default)]
pub(crate) struct Listed {
    objects: Vec<(SnapshotId, ObjectId)>,
    images: Vec<ImageId>,
}

impl Listed {
    /// Adds the row of an object. Returns its number.
    pub(crate) fn push(&mut self, row: (SnapshotId, ObjectId)) -> usize {
        self.objects.push(row);
        self.objects.len()
    }

    /// Adds the rows of another page.
    pub(crate) fn append(&mut self, page: Listed) {
        self.objects.extend(page.objects);
        self.images.extend(page.images);
    }

    /// Keeps the first `rows` rows.
    pub(crate) fn truncate(&mut self, rows: usize) {
        self.objects.truncate(rows);
        self.images.truncate(rows);
    }

    /// The images, if the rows are processes.
    pub(crate) fn images(&self) -> &[ImageId] {
        &self.images
    }

    /// Rows of images.
    pub(crate) fn of_images(images: impl IntoIterator<Item = ImageId>) -> Self {
        Listed { objects: Vec::new(), images: images.into_iter().collect() }
    }
}

impl Deref for Listed {
    type Target = [(SnapshotId, ObjectId)];

    fn deref(&self) -> &Self::Target {
        &self.objects
    }
}

impl Extend<(SnapshotId, ObjectId)> for Listed {
    fn extend<I: IntoIterator<Item = (SnapshotId, ObjectId)>>(&mut self, rows: I) {
        self.objects.extend(rows);
    }
}

impl FromIterator<(SnapshotId, ObjectId)> for Listed {
    fn from_iter<I: IntoIterator<Item = (SnapshotId, ObjectId)>>(rows: I) -> Self {
        Listed { objects: rows.into_iter().collect(), images: Vec::new() }
    }
}
