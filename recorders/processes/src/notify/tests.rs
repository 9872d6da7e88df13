use std::process::{Child, Command};

use barrow_writer::Writer;

use super::*;
use crate::options::Options;

/// A watch of this process, as the root.
fn watch() -> (tempfile::TempDir, Watch) {
    let folder = tempfile::tempdir().unwrap();
    let writer = Writer::create(folder.path().join("x.barrow"), barrow_writer::Options::default()).unwrap();
    let ledger = Arc::new(Ledger::new(writer, Options::default()));
    let watch = Watch::new(&ledger, own(), false).unwrap();
    (folder, Arc::into_inner(watch).unwrap())
}

fn own() -> Pid {
    std::process::id().cast_signed()
}

/// A process that runs until it is killed.
fn child() -> (Child, Pid) {
    let child = Command::new("sleep").arg("60").spawn().unwrap();
    let pid = child.id().cast_signed();
    (child, pid)
}

fn end(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

fn last() -> Last {
    Last { time_ns: 0, status: 0, used: Usage::default(), transferred: None, faults: Faults::default() }
}

#[test]
fn a_process_is_met_once_if_the_sampler_finds_it_while_its_call_waits() {
    let (_folder, watch) = watch();
    let (child, pid) = child();
    let (process, descriptor) = watch.process_of(pid).unwrap();
    watch.look_around();
    let key = watch.tree().processes[&pid].key;
    let calls = filter::CALLS.first().unwrap();
    let request = Request::without_arguments(pid, calls.execve, calls.architecture);
    let descriptor = watch.meet_copy(process, descriptor.unwrap(), &request, watch.ledger.now());
    assert!(descriptor.is_some());
    watch.meet(process, &files::stat(process).unwrap(), descriptor, watch.ledger.now());
    assert_eq!(watch.tree().processes[&pid].key, key);
    end(child);
}

#[test]
fn a_parent_that_is_about_to_end_is_not_another_process() {
    let (_folder, watch) = watch();
    let (child, pid) = child();
    let mut tree = watch.tree();
    let root = tree.processes.get_mut(&own()).unwrap();
    root.last = Some(last());
    let key = root.key;
    watch.know(&mut tree, pid, &files::stat(pid).unwrap(), None, watch.ledger.now());
    assert_eq!((tree.processes[&own()].key, tree.processes[&pid].parent), (key, Some(own())));
    // It was marked as one that its parent did not wait for.
    assert_eq!(tree.processes[&own()].children, []);
    drop(tree);
    end(child);
}

#[test]
fn a_process_is_the_same_when_two_of_its_threads_end_it() {
    let (_folder, watch) = watch();
    let (child, pid) = child();
    watch.look_around();
    let stat = files::stat(pid).unwrap();
    let mut tree = watch.tree();
    tree.processes.get_mut(&pid).unwrap().last = Some(last());
    assert!(watch.is_known(&mut tree, pid, &stat));
    end(child);
    // After its parent waited for it, its number is free.
    assert!(!watch.is_known(&mut tree, pid, &stat));
}

#[test]
fn a_zombie_is_met_only_if_the_system_reports_that_its_parent_waits() {
    for are_noticed in [false, true] {
        let (_folder, mut watch) = watch();
        watch.are_noticed = are_noticed;
        let (mut child, pid) = child();
        child.kill().unwrap();
        while !files::stat(pid).unwrap().is_zombie {
            std::thread::yield_now();
        }
        watch.look_around();
        assert_eq!(watch.tree().processes.contains_key(&pid), are_noticed);
        child.wait().unwrap();
    }
}

#[test]
fn the_name_of_another_thread_is_no_program() {
    let looks = |name: &str, stack| Looks::of(&Stat { name: name.into(), arguments: stack, stack, ..Stat::default() });
    let path = Some("/usr/bin/a-program-with-a-name".to_owned());
    let execution = Execution { path, ..Execution::default() };
    let before = looks("parent", 1);
    let pending = Pending { time_ns: 0, execution, used: Usage::default(), before };
    assert!(!pending.has_succeeded(&looks("parent", 1)));
    assert!(!pending.has_succeeded(&looks("worker", 1)));
    // All stacks have the same address without randomisation.
    assert!(pending.has_succeeded(&looks("a-program-with-", 1)));
    assert!(pending.has_succeeded(&looks("parent", 2)));
}
