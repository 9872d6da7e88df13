//! Processes as rows: one for each image.

use barrow_processes::{Amounts, Classes, ImageId, ProcessTree};

use crate::answer::{Audience, Column, Table, Unit, Value, shell, table};
use crate::attributes::processes;
use crate::context::Context;
use crate::error::QueryError;

use super::{process_text::time, unit_labels::UnitLabels};

/// A table of images of a tree.
pub(crate) struct Rows<'a> {
    /// The tree.
    pub(crate) tree: &'a ProcessTree,
    /// Its classes.
    pub(crate) classes: &'a Classes,
    /// Labels with the units that they build.
    pub(crate) units: &'a UnitLabels,
    /// What ranks them.
    pub(crate) by: Option<&'a Amounts>,
}

impl Rows<'_> {
    /// A row for each image; `number` gives the number of the row at a position.
    ///
    /// # Errors
    /// If the question is stopped, or a label of the user's rules is too long.
    pub(crate) fn table(
        &self,
        context: &Context,
        images: &[ImageId],
        number: impl Fn(usize) -> Value,
    ) -> Result<Table, QueryError> {
        let units = self.units.of(self.tree, images)?;
        let tree = self.tree;
        let mut table = table!("rows", images.iter().zip(units).enumerate(), |(at, (&id, builds))| {
            context.check()?;
            let image = tree.image(id);
            let process = tree.process(image.process);
            let (used, end) = (&image.used, tree.end_of(id));
            let arguments = tree.arguments(image).collect::<Vec<_>>();
            let exit = end.map(|end| match (end.exit_status, end.signal) {
                (_, Some(signal)) => format!("signal {signal}"),
                (Some(status), None) => status.to_string(),
                (None, None) => String::new(),
            });
            let forked = (image.is_forked || !tree.program(image).is_empty()).then_some(image.is_forked);
            Column::row_number() => number(at),
            Column::process("process") => tree.name(image.process),
            Column::number("image").for_machines() => image.number,
            Column::text("class") => self.classes.first().class(id),
            Column::text("parent").for_machines() => process.parent.map(|parent| tree.name(parent)),
            Column::text("host").for_machines() => process.host.map(|host| tree.text(host)),
            Column::text("executable").for_machines() => tree.executable(image),
            Column::text("directory").for_machines() => tree.directory(image),
            Column::text("forked").for_machines() => forked,
            Column::duration("started_ns").called("began").secondary() => time(image.began_ns),
            Column::duration("ended_ns").for_machines() => image.ended_ns.map(time),
            Column::duration("wall_ns") => tree.wall_ns(image),
            Column::duration("cpu_ns").for_people() => tree.cpu_ns(image),
            Column::duration("user_ns").for_machines() => used.user_ns,
            Column::duration("system_ns").for_machines() => used.system_ns,
            Column::duration("waiting_ns").secondary() => used.waiting_ns,
            Column::bytes("peak_bytes").called("memory") => used.peak_bytes,
            Column::count("minor_faults").for_machines() => used.minor_faults,
            Column::count("major_faults").for_machines() => used.major_faults,
            Column::bytes("read_bytes").called("reads").secondary() => used.read_bytes,
            Column::bytes("written_bytes").called("writes").secondary() => used.written_bytes,
            Column::number("exit_code").for_machines() => end.and_then(|end| end.exit_status),
            Column::number("signal").for_machines() => end.and_then(|end| end.signal),
            Column::text("exit").for_people() => exit,
            Column::text("unit") => builds,
            Column::nested("arguments").for_machines()
                => Value::List(arguments.iter().map(|argument| Value::text(*argument)).collect()),
            Column::text("command_line").called("arguments") => shell::line(arguments),
        });
        if let Some(by) = self.by.filter(|by| add_ranking(&mut table.columns, by)) {
            for (row, &id) in table.rows.iter_mut().zip(images) {
                row.push(by.of(tree, id).into());
            }
        }
        Ok(table)
    }
}

/// Shows the column of what ranks, also to people. Returns whether it is a new column, the last one.
fn add_ranking(columns: &mut Vec<Column>, by: &Amounts) -> bool {
    let column = processes::column(by.attribute());
    match columns.iter_mut().find(|known| known.key == column.key && known.unit != Unit::Text) {
        Some(known) if known.audience == Audience::Machines => *known = column,
        Some(_) => {}
        None => {
            columns.push(column);
            return true;
        }
    }
    false
}
