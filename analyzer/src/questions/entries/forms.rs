//! The ways in which the types of a recording say where entries are.

use barrow_format::TypeId;
use foldhash::HashMap;

use super::parts::{self, Contribution};
use crate::error::Result;
use crate::heap::Heap;
use crate::questions::fields::FieldPath;

/// The maximum number of different values of the attribute `entries` in a recording. Further ones are ignored,
/// so that a hostile recording costs little. This is a judgement.
const MOST_FORMS: usize = 128;

/// The different values of the attribute `entries`, as numbers.
pub(super) struct Forms {
    parts: Vec<Vec<Contribution>>,
    of_type: Vec<Option<u32>>,
}

impl Forms {
    pub(super) fn find(heap: &Heap) -> Result<Self> {
        let tables = heap.recording().tables()?;
        let mut forms = Forms { parts: Vec::new(), of_type: Vec::with_capacity(tables.type_count()) };
        let mut number_of: HashMap<&str, Option<u32>> = HashMap::default();
        for id in (0..tables.type_count() as u32).map(TypeId) {
            let number = parts::text_of_type(tables, id).and_then(|text| {
                *number_of.entry(text).or_insert_with(|| {
                    let parts = parts::parse(text).filter(|_| forms.parts.len() < MOST_FORMS)?;
                    forms.parts.push(parts);
                    Some(forms.parts.len() as u32 - 1)
                })
            });
            forms.of_type.push(number);
        }
        Ok(forms)
    }

    /// The number of forms.
    pub(super) fn len(&self) -> usize {
        self.parts.len()
    }

    /// The form of the objects of a type.
    pub(super) fn of(&self, id: TypeId) -> Option<u32> {
        self.of_type[id.index()]
    }

    /// The form of each type.
    pub(super) fn of_types(&self) -> impl Iterator<Item = Option<u32>> {
        self.of_type.iter().copied()
    }

    pub(super) fn parts(&self, form: u32) -> &[Contribution] {
        &self.parts[form as usize]
    }

    pub(super) fn paths(&self, form: u32) -> impl Iterator<Item = &FieldPath> {
        self.parts(form).iter().flat_map(Contribution::paths)
    }

    /// Returns whether objects of any form have keys.
    pub(super) fn have_keys(&self) -> bool {
        self.parts.iter().flatten().any(Contribution::has_key)
    }
}
