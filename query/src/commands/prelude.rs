//! Names that most verbs use.

pub(super) use crate::answer::{Answer, Audience, Column, Outcome, Table, Unit, Value, table, units};
pub(super) use crate::ask::Ask;
pub(super) use crate::ask::reply::{Change, Reply};
pub(super) use crate::command::{Command, Completion, Content, Group, Subject};
pub(super) use crate::error::QueryError;
pub(super) use crate::session::listed::Listed;
pub(super) use crate::session::state::State;
pub(super) use crate::touches::Touches;
