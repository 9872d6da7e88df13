//! The rows of the last table, which `%` names: objects or processes.

use std::ops::{Deref, Range};
use std::sync::Arc;

use barrow_analyzer::{DuplicateGroups, ObjectId, ObjectSet, SnapshotId};
use barrow_processes::ImageId;

/// The objects or images in the rows of the last table; `%1` is the first. It dereferences to its objects.
#[derive(Debug, Clone, Default)]
pub(crate) struct Listed {
    objects: Vec<(SnapshotId, ObjectId)>,
    images: Vec<ImageId>,
    /// The groups that the rows are, each with its place among all; its first object is its object.
    groups: Vec<(Arc<DuplicateGroups>, usize)>,
}

impl Listed {
    /// Rows that are these of the groups of a snapshot.
    pub(crate) fn of_groups(groups: &Arc<DuplicateGroups>, rows: Range<usize>) -> Self {
        let objects = groups.groups[rows.clone()].iter().map(|group| (groups.snapshot(), group.first));
        let objects = objects.collect();
        Listed { objects, groups: rows.map(|row| (Arc::clone(groups), row)).collect(), ..Listed::default() }
    }

    /// The objects of a row that is a group, counted from 1.
    pub(crate) fn set(&self, row: usize) -> Option<ObjectSet> {
        let (groups, at) = self.groups.get(row.checked_sub(1)?)?;
        Some(groups.set(&groups.groups[*at]))
    }

    /// Adds the row of an object. Returns its number.
    pub(crate) fn push(&mut self, row: (SnapshotId, ObjectId)) -> usize {
        self.objects.push(row);
        self.objects.len()
    }

    /// Adds the rows of another page.
    pub(crate) fn append(&mut self, page: Listed) {
        self.objects.extend(page.objects);
        self.images.extend(page.images);
        self.groups.extend(page.groups);
    }

    /// Keeps the first `rows` rows.
    pub(crate) fn truncate(&mut self, rows: usize) {
        self.objects.truncate(rows);
        self.images.truncate(rows);
        self.groups.truncate(rows);
    }

    /// The images, if the rows are processes.
    pub(crate) fn images(&self) -> &[ImageId] {
        &self.images
    }

    /// Rows of images.
    pub(crate) fn of_images(images: impl IntoIterator<Item = ImageId>) -> Self {
        Listed { images: images.into_iter().collect(), ..Listed::default() }
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
        Listed { objects: rows.into_iter().collect(), ..Listed::default() }
    }
}
