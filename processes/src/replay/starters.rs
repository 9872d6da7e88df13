//! Starters of jobs: schedulers, scripts, and their ancestors.

use barrow_analyzer::ProcessId;

use crate::knowledge::Knowledge;
use crate::tree::ProcessTree;

/// Programs that start as many jobs as they have slots.
const SCHEDULERS: [&str; 20] = [
    "make",
    "gmake",
    "mingw32-make",
    "ninja",
    "ninja-build",
    "samu",
    "cargo",
    "bazel",
    "buck2",
    "scons",
    "waf",
    "xargs",
    "parallel",
    "gradle",
    "mvn",
    "go",
    "dune",
    "cabal",
    "stack",
    "barrow-make",
];
/// Programs that start processes one after the other, or several for one pipeline.
const SHELLS: [&str; 7] = ["sh", "bash", "dash", "zsh", "ksh", "ash", "fish"];
/// Minimum number of children of another program that runs several at a time to count as a scheduler.
const FEW_CHILDREN: u32 = 4;
/// The starters of a tree.
pub(super) struct Starters {
    is_scheduler: Vec<bool>,
    /// Whether the process or one of its descendants is a scheduler.
    pub(super) has_scheduler: Vec<bool>,
    pub(super) has_cargo: bool,
    /// The end of the last child that each process waited for.
    pub(super) last_child_ns: Vec<Option<i64>>,
    /// The recorded command, if all processes descend from one.
    command: Option<ProcessId>,
    /// Whether there are several roots without such a command: they are the jobs of a scheduler that was not recorded.
    has_many_roots: bool,
}

impl Starters {
    pub(super) fn of(tree: &ProcessTree) -> Self {
        let processes = tree.processes();
        let (mut children, mut overlapping) = (vec![0u32; processes.len()], vec![false; processes.len()]);
        // The end of the first child, and whether another one began after it: workers that all begin at once are not
        // jobs.
        let (mut first_end, mut refilled) = (vec![i64::MAX; processes.len()], vec![false; processes.len()]);
        let mut last_end = vec![i64::MIN; processes.len()];
        let mut last_child_ns = vec![None; processes.len()];
        for process in processes {
            let Some(parent) = process.parent.map(ProcessId::index) else { continue };
            children[parent] = children[parent].saturating_add(1);
            overlapping[parent] |= process.began_ns < last_end[parent];
            let ended_ns = tree.ended_ns(process);
            refilled[parent] |= process.began_ns >= first_end[parent];
            first_end[parent] = first_end[parent].min(ended_ns);
            last_end[parent] = last_end[parent].max(ended_ns);
            if ended_ns <= tree.ended_ns(&processes[parent]) {
                last_child_ns[parent] = last_child_ns[parent].max(Some(ended_ns));
            }
        }
        let roots = || (0..).map(ProcessId).zip(processes).filter(|(_, process)| process.parent.is_none());
        let is_of_one = Knowledge::of_recorder(tree.recording()).is_some_and(|knowledge| knowledge.one_command);
        let command = roots().min_by_key(|(_, process)| process.began_ns).filter(|_| is_of_one);
        let mut starters = Starters {
            is_scheduler: vec![false; processes.len()],
            has_scheduler: vec![false; processes.len()],
            has_cargo: false,
            last_child_ns,
            command: command.map(|(id, _)| id),
            has_many_roots: command.is_none() && roots().count() > 1,
        };
        for id in (0..processes.len() as u32).rev().map(ProcessId) {
            let at = id.index();
            if children[at] > 0 {
                let names: Vec<&str> = tree.images_of(id).filter_map(|(_, image)| tree.command(image)).collect();
                let is_known = names.iter().any(|name| SCHEDULERS.contains(name));
                let may_be = overlapping[at] && refilled[at] && children[at] >= FEW_CHILDREN;
                starters.is_scheduler[at] = is_known || may_be && !names.iter().any(|name| SHELLS.contains(name));
                starters.has_cargo |= is_known && names.contains(&"cargo");
            }
            starters.has_scheduler[at] |= starters.is_scheduler[at];
            if let Some(parent) = processes[at].parent {
                starters.has_scheduler[parent.index()] |= starters.has_scheduler[at];
            }
        }
        starters
    }

    /// The recorded command, for an orphan of it that is no scheduler.
    pub(super) fn command_of_orphan(&self, orphan: ProcessId) -> Option<ProcessId> {
        self.command.filter(|&command| command < orphan && !self.has_scheduler[orphan.index()])
    }

    /// Whether the children of a process are jobs in slots; `None` is the starter of the first processes.
    pub(super) fn are_slots_of(&self, starter: Option<ProcessId>) -> bool {
        starter.map_or(self.has_many_roots, |starter| self.is_scheduler[starter.index()])
    }
}
