//! `modes`: the modes of a metric, and what explains them.

use barrow_statistics::{Modes, bins, dependence, dip, mvalue};

use crate::tables::trials::dependence::of_one;
use crate::tables::trials::{Named, STATISTICS_BYTES, knobs, modes};

use super::prelude::*;

pub(super) const COMMAND: Command = Command {
    arguments: "METRIC [PROGRAM]",
    example: "modes wall",
    ..Command::new("modes", include_str!("../../verbs/modes.md"), Group::Trials, run)
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let trials = ask.trials()?;
    let [metric, variant] = COMMAND.words(&ask.arguments)?;
    let metric = metric.ok_or_else(|| QueryError::usage("which metric? `trials` lists them: `modes wall`"))?;
    let named = Named::of(&trials, &metric, variant.as_deref())?;
    ask.context.require(named.series.len(), STATISTICS_BYTES)?;
    let found = Modes::of(&named.series.sample());
    let order = dependence(&[&named.series.sample_by_run()]);
    let shares = knobs::shares(&trials, &named.series);
    ask.context.check()?;
    let has_modes = !found.modes.is_empty();
    let mvalue = mvalue(&bins(&named.series.sample(), &found)).filter(|_| has_modes);
    let dip = dip(&named.series.sample()).filter(|_| has_modes);
    let mut knobs_table = knobs::table(&trials, &named.series, &shares);
    // Machines find the key even if no layout was recorded.
    if knobs_table.rows.is_empty() {
        knobs_table.audience = Audience::Machines;
    }
    let answer =
        named.facts().into_iter().fold(Answer::default(), |answer, (column, value)| answer.fact(column, value));
    Ok(answer
        .fact(Column::number("mvalue"), mvalue.map(|mvalue| Value::Decimal { value: mvalue, decimals: 2 }))
        .fact(
            Column::number("dip_p_value").called("dip, p"),
            dip.map(|dip| Value::Decimal { value: dip.p_value, decimals: 3 }),
        )
        .fact(Column::text("depends_on_order").own_words().for_machines(), order.is_some())
        .table(modes::table(&found, &named.metric().unit, order.is_none()))
        .table(knobs_table)
        .note(modes::sentence(&found, named.series.len()))
        .lines(modes::ties(&named.series.sample().sorted()).filter(|_| has_modes))
        .lines(order.map(of_one))
        .note(knobs::sentence(&trials, &named.series, &shares))
        .exact()
        .into())
}
