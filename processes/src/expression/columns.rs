//! Numbers of images: recorded ones, and those derived from the starters of processes.

use crate::tree::{Image, ImageId, ProcessTree};

use super::terms::NumberAttribute;

/// A number for each image.
pub(super) enum Column {
    /// Read from the image or its process.
    Recorded(fn(&ProcessTree, ImageId, &Image) -> Option<u64>),
    /// By the number of the image.
    Computed(Vec<Option<u64>>),
}

impl Column {
    /// The column of an attribute; columns that depend on other images are computed now.
    pub(super) fn of(attribute: NumberAttribute, tree: &ProcessTree) -> Self {
        use NumberAttribute as N;
        if matches!(attribute, N::Children | N::Descendants | N::Depth) && !tree.knowledge().starters {
            return Column::Recorded(|_, _, _| None);
        }
        Column::Recorded(match attribute {
            N::Memory => |_, _, image| image.used.peak_bytes,
            N::Cpu => |tree, _, image| tree.cpu_ns(image),
            N::User => |_, _, image| image.used.user_ns,
            N::System => |_, _, image| image.used.system_ns,
            N::Waiting => |_, _, image| image.used.waiting_ns,
            N::Wall => |tree, _, image| Some(tree.wall_ns(image)),
            N::Reads => |_, _, image| image.used.read_bytes,
            N::Writes => |_, _, image| image.used.written_bytes,
            N::Faults => |_, _, image| faults(image),
            N::MajorFaults => |_, _, image| image.used.major_faults,
            N::Exit => |tree, id, _| tree.end_of(id)?.exit_status,
            N::Signal => |tree, id, _| tree.end_of(id)?.signal,
            N::Pid => |tree, _, image| Some(tree.process(image.process).pid),
            N::Image => |_, _, image| Some(image.number.into()),
            N::Began => |_, _, image| Some(since_beginning(image.began_ns)),
            N::Ended => |_, _, image| image.ended_ns.map(since_beginning),
            N::Children => return Column::Computed(children(tree)),
            N::Descendants => return Column::Computed(descendants(tree)),
            N::Depth => return Column::Computed(depths(tree)),
            N::TotalCpu => return Column::Computed(totals(tree, |image| tree.cpu_ns(image))),
            N::TotalUser => return Column::Computed(totals(tree, |image| image.used.user_ns)),
            N::TotalSystem => return Column::Computed(totals(tree, |image| image.used.system_ns)),
            N::TotalWaiting => return Column::Computed(totals(tree, |image| image.used.waiting_ns)),
            N::TotalReads => return Column::Computed(totals(tree, |image| image.used.read_bytes)),
            N::TotalWrites => return Column::Computed(totals(tree, |image| image.used.written_bytes)),
            N::TotalFaults => return Column::Computed(totals(tree, faults)),
        })
    }

    /// The number of an image, if known.
    pub(super) fn get(&self, tree: &ProcessTree, id: ImageId) -> Option<u64> {
        match self {
            Column::Recorded(of) => of(tree, id, tree.image(id)),
            Column::Computed(values) => values[id.index()],
        }
    }
}

/// Minor and major faults; an unknown count adds nothing if the other is known.
fn faults(image: &Image) -> Option<u64> {
    let mut sum = image.used.minor_faults;
    add(&mut sum, image.used.major_faults);
    sum
}

/// Times before the start of the recording count as its start.
fn since_beginning(time_ns: i64) -> u64 {
    u64::try_from(time_ns).unwrap_or(0)
}

/// For each image, the number of processes it started.
fn children(tree: &ProcessTree) -> Vec<Option<u64>> {
    let mut children = vec![Some(0); tree.images().len()];
    for starter in tree.processes().iter().filter_map(|process| process.started_by) {
        add(&mut children[starter.index()], Some(1));
    }
    children
}

/// For each image, the number of processes it started directly or indirectly.
fn descendants(tree: &ProcessTree) -> Vec<Option<u64>> {
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
fn depths(tree: &ProcessTree) -> Vec<Option<u64>> {
    let mut of_process: Vec<u64> = Vec::with_capacity(tree.processes().len());
    for process in tree.processes() {
        of_process.push(process.parent.map_or(0, |parent| of_process[parent.index()] + 1));
    }
    tree.images().iter().map(|image| Some(of_process[image.process.index()])).collect()
}

/// For each image, the sum of the known values of it and all images below it; unknown if none of them is known.
fn totals(tree: &ProcessTree, own: impl Fn(&Image) -> Option<u64>) -> Vec<Option<u64>> {
    let mut totals: Vec<Option<u64>> = tree.images().iter().map(own).collect();
    // Images below an image began after it.
    for number in (0..totals.len()).rev() {
        let id = ImageId(u32::try_from(number).unwrap_or(u32::MAX));
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
