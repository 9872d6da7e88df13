//! The rows of the last table, which `%` names: objects or processes.

use std::ops::Deref;

use barrow_analyzer::{ObjectId, SnapshotId};
use barrow_processes::ImageId;

/// What the rows of the last table are; `%1` is the first. It is read as its objects.
#[derive(Debug, Clone, Default)]
pub(crate) struct Listed {
    objects: Vec<(SnapshotId, ObjectId)>,
    images: Vec<ImageId>,
}

impl Listed {
    /// Forgets all rows.
    pub(crate) fn clear(&mut self) {
        self.objects.clear();
        self.images.clear();
    }

    /// Adds the row of an object.
    pub(crate) fn push(&mut self, row: (SnapshotId, ObjectId)) {
        self.objects.push(row);
    }

    /// The images, if the rows are processes.
    pub(crate) fn images(&self) -> &[ImageId] {
        &self.images
    }

    /// Adds rows of images.
    pub(crate) fn extend_images(&mut self, images: impl IntoIterator<Item = ImageId>) {
        self.images.extend(images);
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
