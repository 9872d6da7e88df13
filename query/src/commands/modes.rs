//! `modes`: the modes of a metric, and what explains them.

use barrow_statistics::{Modes, bins, dependence, dip, mvalue};

use crate::answer::{Answer, Column, Unit, Value};
use crate::ask::Ask;
use crate::ask::reply::Reply;
use crate::error::QueryError;
use crate::tables::trials::dependence::of_one;
use crate::tables::trials::{Named, STATISTICS_BYTES, knobs, modes};
use crate::touches::Touches;

use super::{Command, Completion, Group, Subject};

pub(super) const COMMAND: Command = Command {
    name: "modes",
    aliases: &[],
    group: Group::Trials,
    arguments: "METRIC [PROGRAM]",
    about: "The modes of a metric, their weights, and the knobs that explain them",
    details: "A mode is a cluster of values. Its location and its weight, the part of the values in it, have intervals \
              that hold the true ones in 95 of 100 cases; values of a run that share a layout are resampled together. Below 12 \
              values there is no statement. A knob's share is the part of the spread, in ranks, that lies between its values; \
              addresses and sizes also count modulo 16 to 4096. `p` is how often chance gives as large a share, beside what the \
              order of runs explains; a share that chance gives more often than once in a hundred is not shown. Runs that \
              depend on the one before, or on time, have no intervals. `values \
              METRIC mode N` lists the runs of a mode. `mvalue` is Brendan Gregg's measure: above 2.8 suggests several \
              modes, above 3.2 two, above 4.2 three or more. `dip, p` is how often a single mode has as deep a dip \
              (Hartigan and Hartigan): a second opinion.",
    example: "modes wall",
    flags: &[],
    subject: Subject::Recording,
    touches: Touches::RECORDING,
    asks_for_totals: None,
    completion: Completion::Nothing,
    run,
};

fn run(ask: &Ask) -> Result<Reply, QueryError> {
    let trials = ask.trials()?;
    let words = ask.arguments.words();
    let (metric, variant) = match &words[..] {
        [] => return Err(QueryError::usage("which metric? `trials` lists them: `modes wall`")),
        [metric] => (metric, None),
        [metric, variant] => (metric, Some(variant.as_str())),
        [_, _, other, ..] => return Err(COMMAND.refuses(other)),
    };
    let named = Named::of(&trials, metric, variant)?;
    ask.context.require(named.series.len(), STATISTICS_BYTES)?;
    let found = Modes::of(&named.series.sample());
    let order = dependence(&[&named.series.sample_by_run()]);
    let shares = knobs::shares(&trials, &named.series);
    ask.context.check()?;
    let mut answer = Answer::default();
    for (column, value) in named.facts() {
        answer = answer.fact(column, value);
    }
    let mvalue = mvalue(&bins(&named.series.sample(), &found)).filter(|_| !found.modes.is_empty());
    let mvalue = mvalue.map(|mvalue| Value::Measured { value: mvalue, text: format!("{mvalue:.2}") });
    let dip = dip(&named.series.sample()).filter(|_| !found.modes.is_empty());
    let dip = dip.map(|dip| Value::Measured { value: dip.p_value, text: format!("{:.3}", dip.p_value) });
    answer = answer
        .fact(Column::new("mvalue", "mvalue", Unit::Number), mvalue)
        .fact(Column::new("dip_p_value", "dip, p", Unit::Number), dip)
        .fact(Column::new("depends_on_order", "", Unit::Text).for_machines(), Value::Flag(order.is_some()))
        .table(modes::table(&found, &named.metric().unit, order.is_none()));
    let knobs_table = knobs::table(&trials, &named.series, &shares);
    // Machines find the key even if no layout was recorded.
    let has_layouts = !knobs_table.rows.is_empty();
    let audience = if has_layouts { knobs_table.audience } else { crate::answer::Audience::Machines };
    answer = answer.table(crate::answer::Table { audience, ..knobs_table });
    Ok(answer
        .note(modes::sentence(&found, named.series.len()))
        .lines(if found.modes.is_empty() { None } else { modes::ties(&named.series.sample().sorted()) })
        .lines(order.map(of_one))
        .note(knobs::sentence(&trials, &named.series, &shares))
        .exact()
        .into())
}
