//! Keys in entries that lead to other entries.
//!
//! ```text
//!   LinkedHashMap$Entry a ──after──▶ b ──after──▶ c ──after──▶ null
//!                        └───────next────────────▶
//!   from the last one on: what c leads to is its own value, what b leads to is that and its own value, …
//! ```
//!
//! A walk from each entry would take as long as the square of their number. What several ways lead to counts once: so each
//! entry keeps which one has the key, and not only how many do.

use barrow_format::ObjectId;
use foldhash::HashMap;

use super::forms::Forms;
use super::key_predicate::KeyPredicate;
use super::parts::Contribution;
use super::reader::Reader;
use super::walk::{EntryValue, Walk};
use super::{LEAST_AT_ONCE, MOST_AT_ONCE};
use crate::error::Result;
use crate::progress::check;
use crate::questions::fields::Held;

/// An entry, and the objects that it leads to.
struct Link {
    object: ObjectId,
    own: EntryValue,
    are_known: bool,
    next: Vec<ObjectId>,
}

/// The entries with the key from one entry on, which is told like [`Walk::value`].
#[derive(Debug, Clone, Copy, PartialEq)]
struct Found {
    /// By the key itself.
    exact: Several,
    /// By what only reads like it.
    alike: Several,
    are_known: bool,
    /// It leads to what is no such entry.
    leads_away: bool,
}

/// No entry, one with its value, or several.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Several {
    None,
    One(ObjectId, Held),
    Many,
}

impl Several {
    fn with(self, other: Several) -> Several {
        match (self, other) {
            (Several::None, other) | (other, Several::None) => other,
            (Several::One(one, value), Several::One(other, _)) if one == other => Several::One(one, value),
            _ => Several::Many,
        }
    }
}

impl Found {
    /// That of one entry. `read` is as for [`Walk::value`].
    fn of(link: &Link, read: &HashMap<ObjectId, Option<bool>>) -> Self {
        let nothing =
            Found { exact: Several::None, alike: Several::None, are_known: link.are_known, leads_away: false };
        match link.own {
            EntryValue::None => nothing,
            EntryValue::Exact(value) => Found { exact: Several::One(link.object, value), ..nothing },
            EntryValue::Alike(value) => Found { alike: Several::One(link.object, value), ..nothing },
            EntryValue::Unread(key, value) => match read.get(&key).copied().flatten() {
                Some(true) => Found { alike: Several::One(link.object, value), ..nothing },
                Some(false) => nothing,
                None => Found { are_known: false, ..nothing },
            },
        }
    }

    fn with(self, other: Found) -> Found {
        Found {
            exact: self.exact.with(other.exact),
            alike: self.alike.with(other.alike),
            are_known: self.are_known && other.are_known,
            leads_away: self.leads_away || other.leads_away,
        }
    }

    fn held(self) -> Held {
        match (self.exact, self.alike) {
            (Several::One(_, value), _) | (Several::None, Several::One(_, value)) => value,
            (Several::None, Several::None) if self.are_known => Held::Missing,
            _ => Held::Unknown,
        }
    }
}

/// The values under a key of some of these objects: of entries that lead to nothing but entries. `objects` keeps the others.
pub(super) fn look_up(
    reader: &mut Reader<'_>,
    objects: &mut Vec<ObjectId>,
    key: &KeyPredicate<'_>,
) -> Result<HashMap<ObjectId, Held>> {
    let (links, place_of) = links(reader, objects, key)?;
    let unread = links.iter().filter_map(|link| match link.own {
        EntryValue::Unread(key, _) => Some(key),
        _ => None,
    });
    let read = key.read(reader.heap, unread, reader.progress)?;
    let mut from: Vec<Found> = links.iter().map(|link| Found::of(link, &read)).collect();
    let mut before: Vec<(u32, u32)> = Vec::new();
    for (at, link) in (0..).zip(&links) {
        for next in &link.next {
            match place_of.get(next) {
                Some(&next) => before.push((next, at)),
                None => from[at as usize].leads_away = true,
            }
        }
    }
    before.sort_unstable();
    // Each is told of at most a few times: what it knows of those after it only grows.
    let mut told: Vec<u32> = (0..links.len() as u32).collect();
    let mut steps = 0_u64;
    while let Some(at) = told.pop() {
        steps += 1;
        if steps.is_multiple_of(1 << 16) {
            check(reader.progress)?;
        }
        let first = before.partition_point(|&(next, _)| next < at);
        for &(_, before) in before[first..].iter().take_while(|&&(next, _)| next == at) {
            let all = from[before as usize].with(from[at as usize]);
            if all != from[before as usize] {
                from[before as usize] = all;
                told.push(before);
            }
        }
    }
    let mut found = HashMap::default();
    objects.retain(|object| match place_of.get(object).map(|&at| from[at as usize]) {
        Some(rest) if !rest.leads_away => found.insert(*object, rest.held()).is_some(),
        _ => true,
    });
    Ok(found)
}

/// The entries among some objects, and those that they lead to, with their places.
fn links(
    reader: &mut Reader<'_>,
    objects: &[ObjectId],
    key: &KeyPredicate<'_>,
) -> Result<(Vec<Link>, HashMap<ObjectId, u32>)> {
    let are_entries: Vec<bool> = (0..reader.forms.len() as u32).map(|form| are_entries(reader.forms, form)).collect();
    let (mut links, mut place_of) = (Vec::new(), HashMap::default());
    let mut waiting = objects.to_vec();
    let mut most = objects.len().max(LEAST_AT_ONCE);
    while !waiting.is_empty() && reader.steps_left > 0 {
        reader.read(waiting.iter().take(most).copied().collect())?;
        let mut unread = Vec::new();
        // As far as what was read goes.
        while let Some(object) = waiting.pop().filter(|_| reader.steps_left > 0) {
            let Some(read) = reader.get(object) else {
                unread.push(object);
                continue;
            };
            if place_of.contains_key(&object) || !read.form.is_some_and(|form| are_entries[form as usize]) {
                continue;
            }
            let (own, are_known, next) = Walk::to_key(object, key).first(reader)?;
            place_of.insert(object, links.len() as u32);
            waiting.extend(&next);
            links.push(Link { object, own, are_known, next });
        }
        unread.sort_unstable();
        unread.dedup();
        waiting = unread;
        most = (most * 2).min(MOST_AT_ONCE);
    }
    Ok((links, place_of))
}

/// Whether objects of a form are entries that may lead to others, and nothing else.
fn are_entries(forms: &Forms, form: u32) -> bool {
    let (entries, others): (Vec<_>, Vec<_>) =
        forms.parts(form).iter().partition(|part| matches!(part, Contribution::Entry { .. }));
    entries.len() == 1 && others.iter().all(|part| matches!(part, Contribution::Of { .. }))
}
