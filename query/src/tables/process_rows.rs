//! Processes as rows: one for each image.

use barrow_processes::{Amounts, Classes, ImageId, ProcessTree, Quantity};

use crate::answer::{Audience, Column, Table, Unit, Value, shell};
use crate::context::Context;
use crate::error::QueryError;

use super::process_text::time;
use super::unit_labels::UnitLabels;

/// What a table of images needs.
pub(crate) struct Rows<'a> {
    /// The tree.
    pub(crate) tree: &'a ProcessTree,
    /// Its classes.
    pub(crate) classes: &'a Classes,
    /// What they build.
    pub(crate) units: &'a UnitLabels,
    /// What ranks them, if that is no column anyway.
    pub(crate) by: Option<&'a Amounts>,
}

/// Attributes that the table shows anyway.
const SHOWN: [&str; 10] = ["memory", "cpu", "user", "system", "waiting", "wall", "reads", "writes", "began", "ended"];

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
        let mut columns = columns();
        let by = self.by.filter(|by| !SHOWN.contains(&by.name()));
        columns.extend(by.map(|by| Column::new(by.name(), unit(by.quantity())).called(by.name())));
        let units = self.units.of(self.tree, images)?;
        let rows = images.iter().zip(units).enumerate().map(|(at, (&id, unit))| {
            let mut row = self.row(number(at), id, unit);
            row.extend(by.map(|by| by.of(self.tree, id).into()));
            row
        });
        Ok(Table { key: "rows", audience: Audience::Everyone, columns, rows: context.collect(rows)? })
    }

    fn row(&self, number: Value, id: ImageId, unit: Option<String>) -> Vec<Value> {
        let tree = self.tree;
        let image = tree.image(id);
        let process = tree.process(image.process);
        let (used, end) = (&image.used, tree.end_of(id));
        let arguments: Vec<&str> = tree.arguments(image).collect();
        let class =
            self.classes.schemata().first().and_then(|schema| Some(&schema.labels()[schema.label(id)?.index()]));
        let ended = end.map(|end| match (end.exit_status, end.signal) {
            (_, Some(signal)) => format!("signal {signal}"),
            (Some(status), None) => status.to_string(),
            (None, None) => String::new(),
        });
        vec![
            number,
            Value::Text(tree.name(image.process)),
            image.number.into(),
            class.map(String::as_str).into(),
            process.parent.map(|parent| tree.name(parent)).into(),
            process.host.map(|host| tree.text(host)).into(),
            tree.executable(image).into(),
            tree.directory(image).into(),
            match image.is_forked || !tree.program(image).is_empty() {
                true => Value::Flag(image.is_forked),
                false => Value::None,
            },
            time(image.began_ns),
            image.ended_ns.map_or(Value::None, time),
            tree.wall_ns(image).into(),
            tree.cpu_ns(image).into(),
            used.user_ns.into(),
            used.system_ns.into(),
            used.waiting_ns.into(),
            used.peak_bytes.into(),
            used.minor_faults.into(),
            used.major_faults.into(),
            used.read_bytes.into(),
            used.written_bytes.into(),
            end.and_then(|end| end.exit_status).into(),
            end.and_then(|end| end.signal).into(),
            ended.into(),
            unit.into(),
            Value::List(arguments.iter().map(|argument| Value::text(*argument)).collect()),
            Value::Text(shell::line(arguments)),
        ]
    }
}

fn unit(quantity: Quantity) -> Unit {
    match quantity {
        Quantity::Bytes => Unit::Bytes,
        Quantity::Time => Unit::Duration,
        Quantity::Count => Unit::Count,
        Quantity::Number => Unit::Number,
    }
}

fn columns() -> Vec<Column> {
    vec![
        Column::row_number(),
        Column::text("process"),
        Column::number("image").for_machines(),
        Column::text("class"),
        Column::text("parent").for_machines(),
        Column::text("host").for_machines(),
        Column::text("executable").for_machines(),
        Column::text("directory").for_machines(),
        Column::text("forked").for_machines(),
        Column::duration("started_ns").called("began").secondary(),
        Column::duration("ended_ns").for_machines(),
        Column::duration("wall_ns"),
        Column::duration("cpu_ns").for_people(),
        Column::duration("user_ns").for_machines(),
        Column::duration("system_ns").for_machines(),
        Column::duration("waiting_ns").secondary(),
        Column::bytes("peak_bytes").called("memory"),
        Column::count("minor_faults").for_machines(),
        Column::count("major_faults").for_machines(),
        Column::bytes("read_bytes").called("reads").secondary(),
        Column::bytes("written_bytes").called("writes").secondary(),
        Column::number("exit_code").for_machines(),
        Column::number("signal").for_machines(),
        Column::text("exit").for_people(),
        Column::text("unit"),
        Column::nested("arguments").for_machines(),
        Column::text("command_line").called("arguments"),
    ]
}
