//! `diff A B [[KIND] EXPR] by KEY`: groups of objects in two snapshots.

use std::sync::Arc;

use barrow_analyzer::GroupKey;

use crate::answer::Answer;
use crate::ask::Ask;
use crate::error::QueryError;
use crate::language::operand::Compared;
use crate::language::request::Request;
use crate::tables::comparison::{self, Measure, Row};
use crate::tables::each_snapshot::EachSnapshot;
use crate::tables::group_series::{self, GroupSeries};
use crate::tables::{found, group_keys};

use super::COMMAND;

/// Compares the groups of the objects that match. Without a key, objects are grouped by type.
///
/// # Errors
/// A usage error for words that are no key and no expression; those of the analyzer.
pub(super) fn answer(ask: &Ask, sides: [&Compared; 2], request: &Request) -> Result<Answer, QueryError> {
    let each = EachSnapshot::of_sides(ask, sides, &request.rest)?;
    let mut by = request.by.clone();
    if by.iter().all(|word| Measure::named(word).is_some()) {
        by.push("type".to_owned());
    }
    let (keys, measure) = group_keys::keys_and_order(&COMMAND, &by, Measure::named)?;
    let are_of_one = Arc::ptr_eq(&sides[0].recording, &sides[1].recording);
    if keys.contains(&GroupKey::Site) && !are_of_one {
        return Err(QueryError::usage("sites have numbers of their own in each recording; try `by type`"));
    }
    let is_retained = measure == Measure::RETAINED;
    let mut groups = group_series::group_series(ask, &each, &keys, is_retained)?;
    let rows =
        std::mem::take(&mut groups.series).into_iter().filter_map(|GroupSeries { keys, amounts }| match amounts[..] {
            [before, after] => Some(Row { subject: keys, before, after }),
            _ => None,
        });
    let names: Vec<String> = keys.iter().map(|key| key.name().into_owned()).collect();
    let columns = |rows: &[Vec<_>]| group_keys::columns(&keys, rows);
    let mut answer = comparison::of_groups(sides, (names.join(","), columns), rows.collect(), measure);
    answer = answer.note_if(is_retained, "what several groups hold together is part of none");
    answer = each.with_gaps(groups.said(answer), ask)?;
    if keys.iter().any(|key| matches!(key, GroupKey::Field(_))) {
        answer = found::with_lost_numbers(answer, &sides[0].recording)?;
        if !are_of_one && answer.notes.is_empty() {
            answer = found::with_lost_numbers(answer, &sides[1].recording)?;
        }
    }
    Ok(answer)
}
