//! The strings of a redacted recording, and the strings that they replace.
//!
//! ```text
//!   string 7 "int", text and name    string 7 "x)7"           the text that replaces it keeps its number
//!   string 8 "secret", a text        string 8 "qL e#k"
//!   string 9 "wall", unnamed         string 9 ""
//!                                    string 10 "int"          string 7 as a name
//! ```

use std::collections::HashMap;

use barrow_analyzer::Tables;
use barrow_format::StringId;

use super::names::Names;
use super::texts::Texts;
use crate::contents::{Class, Treatment, Uses};
use crate::error::{Result, RewriteError};

/// The number of each string in the new recording, by its use.
pub(super) struct NewStrings<'r> {
    tables: &'r Tables,
    uses: &'r Uses,
    /// New strings at the end, each with its original and its treatment.
    added: Vec<(StringId, Treatment)>,
    places: HashMap<(StringId, Treatment), StringId>,
    /// The new recording's own strings, after these.
    own: Vec<String>,
}

/// Numbers of replaced and of kept strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StringCounts {
    /// Texts that were replaced.
    pub texts: u64,
    /// Names that were replaced, including those without letters, whose replacements are equal.
    pub names: u64,
    /// Names that were kept, and words of barrow.
    pub kept: u64,
    /// Strings without a use, which are empty now.
    pub unnamed: u64,
}

impl std::ops::AddAssign for StringCounts {
    fn add_assign(&mut self, other: Self) {
        self.texts += other.texts;
        self.names += other.names;
        self.kept += other.kept;
        self.unnamed += other.unnamed;
    }
}

/// The different treatments of a string of some classes. The first one keeps the number.
fn treatments(classes: u32) -> impl Iterator<Item = Treatment> {
    const CLASSES: [u32; 3] = [Treatment::ALL[0].classes(), Treatment::ALL[1].classes(), Treatment::ALL[2].classes()];
    Treatment::ALL.into_iter().zip(CLASSES).filter(move |(_, own)| own & classes != 0).map(|(treatment, _)| treatment)
}

impl<'r> NewStrings<'r> {
    pub(super) fn new(tables: &'r Tables, uses: &'r Uses) -> Self {
        let count = tables.string_count() as u32;
        let more = |text| treatments(uses.classes(text)).skip(1).map(move |treatment| (text, treatment));
        let added: Vec<_> = (0..count).map(StringId).flat_map(more).collect();
        let places = added.iter().copied().zip((count..).map(StringId)).collect();
        NewStrings { tables, uses, added, places, own: Vec::new() }
    }

    /// Replaces a string by the number it has in the new recording, given its use.
    ///
    /// # Errors
    /// [`RewriteError::NoString`].
    pub(super) fn change(&self, text: &mut StringId, class: Class) -> Result<()> {
        let treatment = class.treatment();
        if treatments(self.uses.classes(*text)).next() != Some(treatment) {
            let known = self.tables.string_count();
            let place = self.places.get(&(*text, treatment));
            *text = *place.ok_or(RewriteError::NoString { string: text.0, known })?;
        }
        Ok(())
    }

    /// Adds a string of the new recording's own.
    pub(super) fn own(&mut self, text: &str) -> StringId {
        self.own.push(text.to_owned());
        StringId(self.count() - 1)
    }

    /// Number of strings.
    pub(super) fn count(&self) -> u32 {
        (self.tables.string_count() + self.added.len() + self.own.len()) as u32
    }

    /// The new text of an old string, which keeps its number.
    pub(super) fn old(
        &self,
        id: StringId,
        text: &str,
        by: StringReplacements<'_>,
        counts: &mut StringCounts,
    ) -> String {
        by.replace(text, treatments(self.uses.classes(id)).next(), counts)
    }

    /// The texts of the strings after the old ones.
    pub(super) fn new_ones(&self, by: StringReplacements<'_>, counts: &mut StringCounts) -> Vec<String> {
        let added =
            self.added.iter().map(|&(id, treatment)| by.replace(self.tables.string(id), Some(treatment), counts));
        let mut all: Vec<String> = added.collect();
        all.extend(self.own.iter().cloned());
        all
    }
}

/// The replacements of strings.
#[derive(Debug, Clone, Copy)]
pub(super) struct StringReplacements<'k> {
    pub(super) texts: Texts<'k>,
    /// `None` if names are kept.
    pub(super) names: Option<Names<'k>>,
}

impl StringReplacements<'_> {
    fn replace(self, text: &str, treatment: Option<Treatment>, counts: &mut StringCounts) -> String {
        match (treatment, self.names) {
            (None, _) => {
                counts.unnamed += 1;
                String::new()
            }
            (Some(Treatment::Text), _) => {
                counts.texts += 1;
                self.texts.replace(text)
            }
            (Some(Treatment::Name), Some(names)) if !names.stays(text) => {
                counts.names += 1;
                names.replace(text)
            }
            (Some(Treatment::Name | Treatment::Word), _) => {
                counts.kept += 1;
                text.to_owned()
            }
        }
    }
}
