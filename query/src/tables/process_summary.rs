//! The totals of a process tree.

use barrow_processes::{Peak, PeakKind, Process, ProcessTree, Totals, Unseen, peak, whole_wall_ns};

use crate::answer::{Answer, Column, Unit, Value, record, units};
use crate::tables::known_in_part;

/// Numbers of processes by how they ended, and of images by what is known of them.
#[derive(Debug, Default)]
struct Counts {
    failed: u64,
    /// Processes that ended in a way that is not known.
    unknown_ends: u64,
    not_waited_for: u64,
    running: u64,
    out_of_memory: u64,
    forked: u64,
    /// Images of which no program is known.
    unknown_programs: u64,
    /// Processes that used at least what is recorded of them.
    at_least: u64,
}

fn counts(tree: &ProcessTree) -> Counts {
    let mut counts = Counts::default();
    for process in tree.processes() {
        counts.failed += u64::from(process.end.is_some_and(|end| end.is_failure()));
        counts.unknown_ends += u64::from(process.end.is_some_and(|end| !end.is_known()));
        counts.running += u64::from(process.end.is_none());
        counts.not_waited_for += u64::from(process.is_not_waited_for);
        counts.out_of_memory += u64::from(process.is_killed_for_memory);
        counts.at_least += u64::from(process.is_at_least);
    }
    for image in tree.images() {
        counts.forked += u64::from(image.is_forked);
        counts.unknown_programs += u64::from(!image.is_forked && tree.program(image).is_empty());
    }
    counts
}

/// The fact of a recording that knows processes by their calls: processor time of the command and of all that was waited for.
const CPU_OF_COMMAND: &str = "cpu of all that was waited for";
/// The processor time of a process that such a recording counts.
const UNTIL_LAST_CALL: &str = "that until their last call, without the end in which their memory is given back, and divided into \
                               user and system by the clock's ticks";

const NOT_COUNTED: &str = "cpu in no row is not known, and not in the utilisation: the system counts it of processes that were waited for, and \
                           not all were";

/// The part of a process's processor time that its recording counts, if that is not all of it.
pub(crate) fn cpu_limits(tree: &ProcessTree) -> Option<&'static str> {
    tree.knowledge().by_calls.then_some(UNTIL_LAST_CALL)
}

/// Adds the totals of a tree.
pub(crate) fn add(answer: Answer, tree: &ProcessTree, totals: &Totals) -> Answer {
    let (counts, peak, whole, knows) = (counts(tree), peak(tree), totals.whole(), tree.knowledge());
    let images = tree.images().len() as u64;
    let programs = (counts.unknown_programs < images).then_some(images - counts.unknown_programs);
    let forked = (knows.starters && programs.is_some()).then_some(counts.forked);
    // Processes that are not recorded may have failed: of none that is known to have, nothing is told.
    let lacks_some = matches!(knows.unseen, Unseen::Of(_) | Unseen::PerhapsOf(_));
    let failed = knows.failures.then_some(counts.failed).filter(|&failed| failed > 0 || !lacks_some);
    let not_waited_for = knows.waits.then_some(counts.not_waited_for);
    let out_of_memory = knows.memory_kills.then_some(counts.out_of_memory);
    let wall_ns = whole_wall_ns(tree);
    let facts = tree.recording().facts().unwrap_or_default();
    let fact = |name: &str| facts.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
    let cores = fact("cores").and_then(|cores| cores.parse::<u64>().ok()).filter(|&cores| cores > 0);
    let processes = tree.processes().len() as u64;
    // The system counts more of the command and of all that was waited for than their rows have.
    let counted = fact(CPU_OF_COMMAND).and_then(|cpu_ns| cpu_ns.parse::<u64>().ok());
    let in_rows = whole.cpu_ns().filter(|_| counted.is_some() || whole.unknown() == 0);
    // Nor does it count those that nothing waited for, whose rows are in the sum.
    let is_counted = |process: &Process| process.end.is_some() && !process.is_not_waited_for;
    let are_counted = knows.waits && tree.processes().iter().skip(1).all(is_counted);
    let in_no_row = counted.zip(whole.cpu_ns()).map(|(counted, in_rows)| counted.saturating_sub(in_rows));
    let in_no_row = in_no_row.filter(|_| are_counted);
    // What is in neither would be missing.
    let used = in_rows.max(counted).filter(|_| are_counted || whole.unknown() == 0);
    let utilisation = used.zip(cores).map(|(cpu, cores)| (cpu, wall_ns.saturating_mul(cores)));
    let utilisation = utilisation.map_or(Value::None, |(cpu, most)| Value::share(cpu, most));
    let record = record! {
        Column::count("processes") => processes,
        Column::count("images") => tree.images().len(),
        Column::count("programs") => programs,
        Column::count("forked") => forked,
        Column::duration("wall_ns") => wall_ns,
        Column::duration("user_ns") => whole.user_ns.value(),
        Column::duration("system_ns") => whole.system_ns.value(),
        Column::duration("waiting_ns") => whole.waiting_ns.value(),
        Column::duration("cpu_in_no_row_ns") => in_no_row,
        Column::count("cpu_unknown") => whole.unknown(),
        Column::bytes("peak_bytes") => peak.map(|peak| peak.bytes),
        Column::text("peak_kind").own_words() => peak.map(|peak| kind(peak.kind)),
        Column::duration("peak_ns") => peak.map(|peak| super::process_text::time(peak.time_ns)),
        Column::share("utilisation") => utilisation.clone(),
        Column::count("failed") => failed,
        Column::count("failed_unknown") => counts.unknown_ends,
        Column::count("with_unseen_children") => match knows.unseen {
            Unseen::None => Some(0),
            Unseen::Of(parents) => Some(parents),
            Unseen::PerhapsOf(_) | Unseen::Unknown => None,
        },
        Column::count("not_waited_for") => not_waited_for,
        Column::count("running") => counts.running,
        Column::count("out_of_memory") => out_of_memory,
    };
    let some = |count: Option<u64>| count.filter(|&count| count > 0);
    let answer = answer
        .fact(Column::nested("processes").for_machines(), record)
        .fact(Column::shown("command", Unit::Text), fact("command"))
        .fact(Column::shown("processes", Unit::Count), processes)
        .fact(Column::shown("programs", Unit::Count), programs)
        .fact(Column::shown("unknown programs", Unit::Count), some(programs.map(|_| counts.unknown_programs)))
        .fact(Column::shown("forked only", Unit::Count), some(forked))
        .fact(Column::shown("wall", Unit::Duration), wall_ns)
        .fact(Column::shown("user", Unit::Duration), whole.user_ns.value())
        .fact(Column::shown("system", Unit::Duration), whole.system_ns.value())
        .fact(Column::shown("cpu in no row", Unit::Duration), in_no_row)
        .fact(Column::shown("waiting", Unit::Duration), whole.waiting_ns.value())
        .fact(Column::shown("utilisation", Unit::Share), utilisation)
        .fact(Column::shown(peak.map_or("", |peak| heading(peak)), Unit::Bytes), peak.map(|peak| peak.bytes))
        .fact(Column::shown("failed", Unit::Count), failed)
        .fact(Column::shown("not waited for", Unit::Count), not_waited_for)
        .fact(Column::shown("running at the end", Unit::Count), some(Some(counts.running)))
        .fact(Column::shown("killed, out of memory", Unit::Count), some(out_of_memory));
    // Of these a part is in the sum.
    let unknown_cpu = u64::from(whole.unknown()).saturating_sub(counts.at_least);
    with_notes(answer, tree, counts.unknown_ends, unknown_cpu, peak.map(|peak| peak.kind))
        .note_if(counted.is_some() && !are_counted, NOT_COUNTED)
}

/// Adds notes on what the totals leave out: ends and programs of which something is not known, and the kind of the peak.
fn with_notes(
    mut answer: Answer,
    tree: &ProcessTree,
    unknown_ends: u64,
    unknown_cpu: u64,
    peak: Option<PeakKind>,
) -> Answer {
    if let Some(note) = known_in_part::failures_not_counted(tree, unknown_ends) {
        answer = answer.note(note);
    }
    answer.notes.extend(known_in_part::forks_not_counted(tree));
    if let Some(limits) = cpu_limits(tree) {
        answer = answer.note(format!("cpu of processes is {limits}; what that leaves out is in no row"));
    }
    if unknown_cpu > 0 {
        let programs = units::counted(unknown_cpu, "program");
        answer = answer.note(format!("the processor time of {programs} is not known, and not in the sum"));
    }
    answer.notes.extend(known_in_part::left_out(tree));
    match peak {
        Some(PeakKind::UpperBound) => answer.note(
            "peak: no samples of memory; the tree held at most this, if the peaks of all processes that ran at the same \
             time were at the same time and they shared nothing",
        ),
        Some(PeakKind::KnownPeaks(unknown)) => {
            let programs = units::counted(unknown.into(), "program");
            answer.note(format!("peak: a sum of peaks of processes that ran at the same time, without {programs} of which none is known"))
        }
        _ => answer,
    }
}

fn heading(peak: Peak) -> &'static str {
    match peak.kind {
        PeakKind::Sampled => "peak (sampled)",
        PeakKind::UpperBound => "peak (at most)",
        PeakKind::KnownPeaks(_) => "peak (estimate)",
    }
}

fn kind(kind: PeakKind) -> &'static str {
    match kind {
        PeakKind::Sampled => "largest sample",
        PeakKind::UpperBound => "upper bound",
        PeakKind::KnownPeaks(_) => "sum of known peaks",
    }
}
