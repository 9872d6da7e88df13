//! Allocation traces: the calls that led to the allocation of an object, if the program tracked them.
//!
//! ```text
//!   "trace_function_infos": [ function_id, name, script_name, script_id, line, column, … ]
//!   "trace_tree": [ id, function_info_index, count, size, [ id, …, [ … ], id, …, [ ] ] ]
//!                                                         └ called from there: the same again
//! ```

use std::collections::HashMap;

use super::layout::Layout;
use super::meta::FunctionFields;
use super::strings::Strings;
use crate::context::Context;
use crate::error::{Damage, Stop};
use barrow_writer::{SiteDescription, SiteId};

/// Maximum number of fields of a trace node.
const MAX_NUMBERS: usize = 32;

/// The sites of allocations, and the names of scripts.
#[derive(Default)]
pub(crate) struct Traces {
    /// By id of the trace node.
    sites: HashMap<u64, SiteId, foldhash::fast::RandomState>,
    /// By id of the script: the number of its name's string.
    scripts: HashMap<u64, u64>,
}

/// A function of the traces; names are numbers of strings.
#[derive(Debug, Clone, Copy)]
struct Function {
    name: u64,
    /// 0 if it is in no script.
    script_id: u64,
    /// Counted from 1; 0 if unknown.
    line: u64,
    column: u64,
}

impl Traces {
    /// Declares a site for every node of the tree except its root. For a damaged tree, declares those before the
    /// damage, and also returns the damage.
    pub(crate) fn declare(layout: &Layout<'_>, context: &Context<'_>) -> Result<(Traces, Result<(), Damage>), Stop> {
        let mut traces = Traces::default();
        let functions = match traces.functions(layout) {
            Ok(functions) => functions,
            Err(damage) => return Ok((traces, Err(damage))),
        };
        match traces.tree(layout, &functions, context) {
            Ok(()) => Ok((traces, Ok(()))),
            Err(Stop::Damage(damage, _)) => Ok((traces, Err(damage))),
            Err(stop) => Err(stop),
        }
    }

    /// The site of objects with this trace node.
    #[inline]
    pub(crate) fn site(&self, trace_node_id: u64) -> Option<SiteId> {
        if trace_node_id == 0 { None } else { self.sites.get(&trace_node_id).copied() }
    }

    /// The name of a script, or its number if the dump has no name.
    pub(crate) fn script(&self, script_id: u64, strings: &Strings<'_>) -> String {
        let name = self.scripts.get(&script_id).and_then(|&name| text(strings, name));
        name.unwrap_or_else(|| format!("script {script_id}"))
    }

    fn functions(&mut self, layout: &Layout<'_>) -> Result<Vec<Function>, Damage> {
        let (Some(numbers), Some(fields)) = (&layout.functions, &layout.meta.functions) else { return Ok(Vec::new()) };
        numbers.check_whole()?;
        let FunctionFields { count, name, script_name, script_id, line, column } = *fields;
        let mut reader = numbers.from(0);
        let mut record = vec![0; count];
        let mut functions = Vec::new();
        for _ in 0..numbers.len() / count as u64 {
            reader.record(&mut record)?;
            self.scripts.insert(record[script_id], record[script_name]);
            functions.push(Function {
                name: record[name],
                script_id: record[script_id],
                line: record[line],
                column: record[column],
            });
        }
        Ok(functions)
    }

    fn tree(&mut self, layout: &Layout<'_>, functions: &[Function], context: &Context<'_>) -> Result<(), Stop> {
        let Some(range) = layout.trace_tree.clone() else { return Ok(()) };
        let fields = &layout.meta.trace_fields;
        let [id, function] = ["id", "function_info_index"].map(|name| fields.iter().position(|field| field == name));
        let (Some(id), Some(function)) = (id, function) else { return Ok(()) };
        if fields.last().is_none_or(|last| last != "children") || fields.len() > MAX_NUMBERS {
            return Ok(());
        }
        let mut tree = Tree { dump: layout.dump, at: range.start, end: range.end };
        // For each open list, the caller of its nodes.
        let mut callers: Vec<Option<SiteId>> = Vec::new();
        let mut record = Vec::with_capacity(fields.len());
        while let Some(token) = tree.next() {
            let (offset, token) = token?;
            match token {
                Token::Number(number) if !callers.is_empty() && record.len() + 1 < fields.len() => record.push(number),
                Token::Open if callers.is_empty() => callers.push(None),
                Token::Open if record.len() + 1 == fields.len() => {
                    let caller = callers.last().copied().flatten();
                    // The root is not a call.
                    let is_root = callers.len() == 1;
                    let function = usize::try_from(record[function]).ok().and_then(|index| functions.get(index));
                    let site = match function {
                        Some(function) if !is_root => Some(self.declare_site(function, caller, layout, context)?),
                        _ => caller,
                    };
                    self.sites.extend(site.map(|site| (record[id], site)));
                    record.clear();
                    callers.push(site);
                }
                Token::Close if record.is_empty() && callers.pop().is_some() => {}
                _ => return Err(Tree::unexpected(layout.dump, offset, "a node of the trace tree").into()),
            }
        }
        Ok(())
    }

    fn declare_site(
        &self,
        function: &Function,
        caller: Option<SiteId>,
        layout: &Layout<'_>,
        context: &Context<'_>,
    ) -> Result<SiteId, Stop> {
        let name = text(&layout.strings, function.name);
        let file = (function.script_id != 0).then(|| self.script(function.script_id, &layout.strings));
        let [line, column] =
            [function.line, function.column].map(|number| u32::try_from(number).ok().filter(|&number| number > 0));
        Ok(context.vocabulary.site(&SiteDescription {
            function: Some(match &name {
                Some(name) => name,
                None => context.vocabulary.marked("(anonymous)")?,
            }),
            file: file.as_deref(),
            line,
            column,
            caller,
            attributes: &[],
        })?)
    }
}

/// A string, if it is there and not empty.
fn text(strings: &Strings<'_>, index: u64) -> Option<String> {
    let text = strings.text(usize::try_from(index).ok()?)?;
    (!text.is_empty()).then(|| text.into_owned())
}

/// Reads the text of the tree.
struct Tree<'a> {
    dump: &'a [u8],
    at: usize,
    end: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    Open,
    Close,
    Number(u64),
}

impl Tree<'_> {
    /// The next token, with its offset.
    fn next(&mut self) -> Option<Result<(usize, Token), Damage>> {
        let text = self.dump.get(self.at..self.end).unwrap_or_default();
        let start = self.at + text.iter().position(|&byte| byte != b',' && !byte.is_ascii_whitespace())?;
        let text = &self.dump[start..self.end];
        let token = match text[0] {
            b'[' => Token::Open,
            b']' => Token::Close,
            _ => {
                let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
                let number = str::from_utf8(&text[..digits]).ok().and_then(|digits| digits.parse().ok());
                let Some(number) = number else { return Some(Err(Self::unexpected(self.dump, start, "a number"))) };
                self.at = start + digits;
                return Some(Ok((start, Token::Number(number))));
            }
        };
        self.at = start + 1;
        Some(Ok((start, token)))
    }

    fn unexpected(dump: &[u8], at: usize, expected: &'static str) -> Damage {
        let found = dump.get(at).copied().unwrap_or_default();
        Damage::Unexpected { found: format!("{:?}", char::from(found)), offset: at as u64, expected }
    }
}
