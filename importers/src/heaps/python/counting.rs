//! Counts the objects of a dump by type: one pass over the lines, without addresses and references.

use parking_lot::Mutex;

use super::line::{Line, References};
use super::types::{LineType, put_key};
use super::{Classes, DumpEnd, NamedType, end_of, header, is_header, type_of};
use crate::context::Context;
use crate::counted::{Counted, TypeCount};
use crate::error::{Damage, ImportError, Stop};
use crate::heaps::json_lines::{Lines, Tallies, unexpected};
use crate::tally::{Tally, counted};

/// Counts a dump as an import of it would. Each line is read whole, so that the same damage ends both. `None` for
/// several dumps in one file.
pub(super) fn totals(dump: &[u8], context: &Context<'_>) -> Result<Option<Counted>, ImportError> {
    let mut lines = Lines::new(dump);
    let (totals, whole) = match lines.read(context, super::check_line, |lines| count(lines, context)) {
        Ok(None) => return Ok(None),
        Ok(Some((totals, whole))) => (Ok(totals), whole),
        Err(stop) => (Err(stop), Ok(())),
    };
    counted(totals, lines.lost().or(whole.err()), dump.len() as u64).map(Some)
}

/// The totals, and an error if the dump lacks its end.
type Counts = (Vec<TypeCount>, Result<(), Damage>);

/// `None` for several dumps.
fn count(lines: &Lines<'_>, context: &Context<'_>) -> Result<Option<Counts>, Stop> {
    if let Some((text, offset)) = lines.first() {
        header(text, offset)?;
    }
    let all: Mutex<Tallies<LineType>> = Mutex::default();
    let chunks = lines.in_parallel(
        "counting",
        context,
        || Ok(Counter::default()),
        |counter, chunk| {
            lines.for_each_line(chunk, |text, offset| counter.line(text, offset))?;
            Ok((std::mem::take(&mut counter.classes), counter.end.take(), std::mem::take(&mut counter.headers)))
        },
        |counter| Ok(all.lock().merge(counter.tallies)?),
    )?;
    let (mut classes, mut end, mut headers) = (Vec::new(), None, 0);
    for (of_chunk, end_of_chunk, headers_of_chunk) in chunks {
        classes.extend(of_chunk);
        end = end.or(end_of_chunk);
        headers += headers_of_chunk;
    }
    if headers > 1 {
        return Ok(None);
    }
    let classes = Classes::new(classes);
    let all = all.into_inner();
    let has_values = context.options.contents.has_values();
    let totals = all.declare(|type_| Ok(type_.declare(&classes, context.vocabulary, has_values)?.0))?;
    let objects = totals.iter().map(|count| count.objects).sum();
    Ok(Some((totals, super::check_end(end, objects, lines))))
}

/// Counts the lines of one thread.
#[derive(Default)]
struct Counter {
    tallies: Tallies<LineType>,
    /// The types of the current chunk.
    classes: Vec<NamedType>,
    end: Option<DumpEnd>,
    headers: u64,
    // Kept for their memory.
    key: Vec<u8>,
    references: References<'static>,
}

impl Counter {
    fn line(&mut self, text: &[u8], offset: u64) -> Result<(), Stop> {
        let mut references = std::mem::take(&mut self.references).recycled();
        let line = Line::read(text, offset, &mut references)?;
        self.references = references.recycled();
        if self.end.is_none() {
            self.end = end_of(&line, text, offset);
        }
        self.headers += u64::from(is_header(&line, text));
        match (line.address, line.root, line.barrow) {
            (Some(_), ..) => {}
            (None, None, None) => return Err(unexpected(text, offset)),
            _ => return Ok(()),
        }
        put_key(&line, &mut self.key);
        let one = Tally::one(line.size.unwrap_or(0), 0);
        self.tallies.add(&self.key, one, offset, || LineType::of(&line))?;
        self.classes.extend(type_of(&line));
        Ok(())
    }
}
