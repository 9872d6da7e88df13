//! Rows for places of the dominator tree.

use barrow_analyzer::{Chain, Heap, Holder, Tables, objects};

use crate::answer::{Column, Table, Unit, path, table};
use crate::ask::Ask;
use crate::error::QueryError;
use crate::session::listed::Listed;
use crate::tables::{held, label, tree_walk::TreeLine};

/// A row for each line, and the objects in them, which get numbers for `%`.
///
/// # Errors
/// Those of the analyzer.
pub(crate) fn table(heap: &Heap, ask: &Ask, lines: &[TreeLine]) -> Result<(Table, Listed), QueryError> {
    let tables = heap.recording().tables()?;
    let ids: Vec<_> = lines.iter().filter_map(|line| line.holder.object()).collect();
    let details = objects(heap.recording(), heap.snapshot(), &ids)?;
    let said = held::lines_of(heap, &details, &ask.meter())?;
    let mut details = details.into_iter();
    let mut listed = Listed::default();
    let table = table!("rows", lines, |line| {
        let object = line.holder.object().and_then(|_| details.next());
        let group = match line.holder {
            Holder::Roots(name) => Some(tables.string(name)),
            _ => None,
        };
        let chain = line.chain.as_ref().map(|chain| chain_title(tables, chain));
        let title = match (&chain, group, &object) {
            (Some(chain), ..) => chain.clone(),
            (_, Some(name), _) => format!("roots: {name}"),
            (_, _, Some(object)) => {
                held::title_with_line(label::object(tables, object.type_id, object.name), &said, object.id)
            }
            _ => "all roots".to_owned(),
        };
        // The two sizes of a chain are known only together.
        let single = object.filter(|_| chain.is_none());
        let row = object.map(|object| listed.push((heap.snapshot(), object.id)));
        let left_out = (line.left_out.0 > 0).then_some(line.left_out);
        Column::row_number() => row.map(|row| ask.row_number(ask.listed_before() + row)),
        Column::depth() => line.depth,
        Column::object("object") => object.map(|object| object.id.0),
        Column::shown("type", Unit::Text) => format!("{}{title}", "  ".repeat((line.depth as usize).min(60))),
        Column::text("type").for_machines() => object.map_or(title, |object| tables.type_title(object.type_id)),
        Column::text("name").for_machines() => label::name(tables, object.and_then(|object| object.name)),
        Column::text("line").for_machines() => single.and_then(|object| said.get(&object.id).cloned()),
        Column::text("roots").for_machines() => group,
        Column::text("kind").secondary() => object.map(|object| tables.kind_name(tables.type_kind(object.type_id))),
        Column::bytes("shallow_bytes").secondary() => single.map(|object| object.shallow_bytes),
        Column::bytes("unmanaged_bytes").secondary() => single.map(|object| object.unmanaged_bytes),
        Column::count("retained_objects").called("retains objects") => line.retained.0,
        Column::bytes("retained_bytes") => line.retained.1,
        Column::text("chain").names().for_machines() => chain,
        Column::count("chain_objects").for_machines() => line.chain.map(|chain| chain.objects),
        Column::bytes("chain_own_bytes").for_machines() => line.chain.map(|chain| chain.own_bytes),
        Column::count("left_out").called("smaller ones") => left_out.map(|(count, _)| count),
        Column::bytes("left_out_bytes").called("they retain").secondary() => left_out.map(|(_, bytes)| bytes),
    });
    Ok((table, listed))
}

/// `Node × 200,000`, or `(Node › Entry) × 100,000`, where the last round may be a part of one; `Text, Style × 6,000` of types
/// in no order.
fn chain_title(tables: &Tables, chain: &Chain) -> String {
    let types: Vec<String> = chain.types().iter().map(|&id| tables.type_title(id)).collect();
    if !chain.is_periodic {
        return path::repeated(&[types.join(", ")], chain.objects);
    }
    path::repeated(&types, chain.objects.div_ceil(types.len() as u64))
}
