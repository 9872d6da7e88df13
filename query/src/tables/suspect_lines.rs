//! A leak suspect in lines: its retained size, the object where that piles up, and the path that holds it.

use barrow_analyzer::{Accumulated, Heap, Suspect};

use crate::answer::units;
use crate::error::QueryError;
use crate::progress::Meter;
use crate::tables::chain::{Chain, titled};
use crate::tables::suspects::Suspected;

/// Types that are listed of what piled up: those that hold most, which say what it is.
const SHOWN_TYPES: usize = 5;

/// The path to the objects that pile up, or to the suspect; of several objects to the largest.
pub(crate) fn chain_of(heap: &Heap, suspect: &Suspect, meter: &Meter) -> Result<Chain, QueryError> {
    let target = suspect.accumulation.filter(|_| suspect.objects == 1).unwrap_or(suspect.object);
    Chain::to(heap, target, meter)
}

/// A suspect in words, with what piled up and the path that holds it, in lines: its headline first.
pub(crate) fn described(
    heap: &Heap,
    suspected: &Suspected,
    chain: &Chain,
    whole: u64,
) -> Result<Vec<String>, QueryError> {
    let Suspected { suspect, fingerprint, .. } = suspected;
    let mut lines = headline(heap, suspected, whole)?;
    let tables = heap.recording().tables()?;
    for sum in suspect.accumulated.iter().take(SHOWN_TYPES) {
        let Accumulated { type_id, objects, retained_bytes, is_chain, content } = *sum;
        let (title, bytes) = (tables.type_title(type_id), units::size(retained_bytes));
        let chain = if is_chain { ", one below the other" } else { "" };
        lines.push(format!("      {} of {title}{chain}: {bytes}", units::counted(objects, "object")));
        lines.extend(content.map(|content| {
            let (title, bytes) = (tables.type_title(content.type_id), units::size(content.retained_bytes));
            format!("        in them {} of {title}: {bytes}", units::counted(content.objects, "object"))
        }));
    }
    if suspect.accumulated.len() > SHOWN_TYPES {
        let more = units::counted((suspect.accumulated.len() - SHOWN_TYPES) as u64, "more type");
        lines.push(format!("      … and {more}"));
    }
    lines.push(if suspect.objects == 1 { "    held by" } else { "    the largest is held by" }.to_owned());
    lines.extend(chain.lines().into_iter().map(|line| format!("      {line}")));
    lines.push(format!("    fingerprint {fingerprint}"));
    Ok(lines)
}

/// The object that retains memory, how much, and where that piles up.
fn headline(heap: &Heap, suspected: &Suspected, whole: u64) -> Result<Vec<String>, QueryError> {
    let suspect = &suspected.suspect;
    let share = |bytes: u64| format!("{:.1} %", bytes as f64 * 100.0 / whole.max(1) as f64);
    let together = (suspected.alike > 1).then(|| {
        format!(
            "    one of {} with this fingerprint, which retain {}, {} together",
            units::grouped(suspected.alike),
            units::size(suspected.retained_bytes),
            share(suspected.retained_bytes),
        )
    });
    let share = share(suspect.retained_bytes);
    let bytes = units::size(suspect.retained_bytes);
    let mut lines = Vec::new();
    if suspect.objects > 1 {
        lines.push(format!(
            "{} of {} retain {bytes}, {share} of what is reachable, right below {}",
            units::counted(suspect.objects, "object"),
            heap.recording().tables()?.type_title(suspect.type_id),
            suspect.accumulation.map_or_else(|| Ok("the roots".to_owned()), |holder| titled(heap, holder))?,
        ));
        lines.extend(together);
        return Ok(lines);
    }
    lines.push(format!("{} retains {bytes}, {share} of what is reachable", titled(heap, suspect.object)?));
    if let Some(point) = suspect.accumulation.filter(|point| *point != suspect.object) {
        let bytes = units::size(suspect.accumulation_bytes);
        lines.push(format!("    it piles up in {}, {bytes}", titled(heap, point)?));
    }
    lines.extend(together);
    Ok(lines)
}
