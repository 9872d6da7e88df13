//! Lines that a file gives to the objects of classes, beside those of the recording.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use barrow_format::TypeId;
use foldhash::HashMap;

use super::Heap;
use crate::error::Result;
use crate::file::tables::Tables;

/// The templates that a file has for classes. [`LineRules::read`] reads them.
#[derive(Debug)]
pub struct LineRules {
    /// The file, as it was named.
    pub(crate) file: String,
    /// The text of the file.
    pub(crate) text: String,
    /// The name of each class, and its template, which is valid.
    pub(crate) rules: Vec<(String, String)>,
    /// The number of times that lines were looked up.
    pub(crate) uses: AtomicU64,
}

impl LineRules {
    /// The file, as it was named.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The text of the file.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The number of times that lines of objects were looked up, by any heap with these rules.
    #[must_use]
    pub fn uses(&self) -> u64 {
        // Relaxed: the count orders no other memory.
        self.uses.load(Ordering::Relaxed)
    }

    /// The classes that no type of a recording has the name of, in the order of the file.
    #[must_use]
    pub fn unknown_classes(&self, tables: &Tables) -> Vec<&str> {
        let mut is_known = vec![false; self.rules.len()];
        self.of_types(tables).into_values().for_each(|rule| is_known[rule] = true);
        self.rules
            .iter()
            .zip(is_known)
            .filter(|(_, is_known)| !is_known)
            .map(|((class, _), _)| class.as_str())
            .collect()
    }

    /// For each type that a rule names, by its name or its title, the place of the rule.
    fn of_types(&self, tables: &Tables) -> HashMap<TypeId, usize> {
        let by_name: HashMap<&str, usize> = self.rules.iter().map(|(class, _)| class.as_str()).zip(0..).collect();
        let of_type = |id: TypeId| {
            let titled = || tables.type_file(id).and_then(|_| by_name.get(&*tables.type_title(id)));
            by_name.get(tables.type_name(id)).or_else(titled).map(|&rule| (id, rule))
        };
        (0..tables.type_count() as u32).map(TypeId).filter_map(of_type).collect()
    }
}

/// The rules of a heap, by type.
#[derive(Debug)]
pub(super) struct RulesOfTypes {
    rules: Arc<LineRules>,
    of_type: HashMap<TypeId, usize>,
}

/// The template of a type's objects. Those of rules come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum LineTemplate<'h> {
    /// It is in the file of rules.
    Rule(&'h str),
    /// The recording has it.
    Recorded(&'h str),
}

impl Heap {
    /// The same heap with further lines. A rule counts for the objects of its class, and of those derived from it that
    /// have neither a rule nor a line of their own.
    ///
    /// # Errors
    /// [`crate::AnalyzerError::Section`].
    pub fn with_lines(self, rules: Arc<LineRules>) -> Result<Self> {
        let of_type = rules.of_types(self.recording.tables()?);
        Ok(Heap { lines: Some(Arc::new(RulesOfTypes { rules, of_type })), ..self })
    }

    /// The rules for lines, if there are any.
    #[must_use]
    pub fn line_rules(&self) -> Option<&Arc<LineRules>> {
        self.lines.as_ref().map(|lines| &lines.rules)
    }

    /// The template for the lines of a type's objects: that of the nearest one of the type and its bases.
    pub(crate) fn line_template<'h>(&'h self, tables: &'h Tables, id: TypeId) -> Option<LineTemplate<'h>> {
        let Some(RulesOfTypes { rules, of_type }) = self.lines.as_deref() else {
            return tables.type_template(id).map(LineTemplate::Recorded);
        };
        tables.type_and_bases(id).find_map(|id| {
            let rule = of_type.get(&id).map(|&rule| LineTemplate::Rule(&rules.rules[rule].1));
            rule.or_else(|| tables.own_template(id).map(LineTemplate::Recorded))
        })
    }

    /// Notes that lines are looked up.
    pub(crate) fn count_line_use(&self) {
        if let Some(rules) = self.line_rules() {
            rules.uses.fetch_add(1, Ordering::Relaxed);
        }
    }
}
