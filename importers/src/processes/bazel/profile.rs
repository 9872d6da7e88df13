//! The head of a profile, and the places of its events.

use serde_json::{Map, Value};

/// Maximum depth of objects in an event.
const MOST_DEPTH: u32 = 64;

/// The description of a profile at its beginning.
#[derive(Debug, Clone)]
pub(super) struct Head {
    other_data: Map<String, Value>,
}

impl Head {
    /// The head in these first bytes, if they are those of a profile of Bazel.
    pub(super) fn parse(first_bytes: &[u8]) -> Option<Head> {
        let text = first_bytes.trim_ascii_start().strip_prefix(b"{")?.trim_ascii_start();
        let text = text.strip_prefix(b"\"otherData\"")?.trim_ascii_start().strip_prefix(b":")?;
        let object = text.trim_ascii_start();
        let end = object_length(object)?;
        let other_data: Map<String, Value> = serde_json::from_slice(&object[..end]).ok()?;
        let is_of_bazel = other_data.contains_key("build_id")
            && ["output_base", "bazel_version", "date"].iter().any(|key| other_data.contains_key(*key));
        is_of_bazel.then_some(Head { other_data })
    }

    /// The time at which the command began, in nanoseconds since 1970. Versions 6 and 7 name it `profile_finish_ts`,
    /// and give whole seconds.
    pub(super) fn started_ns(&self) -> Option<u64> {
        let time = ["profile_start_ts", "profile_finish_ts"].iter().find_map(|key| self.other_data.get(*key))?;
        time.as_u64()?.checked_mul(1_000_000)
    }

    /// The version of Bazel, since 6.
    pub(super) fn version(&self) -> Option<&str> {
        self.other_data.get("bazel_version")?.as_str()
    }
}

/// A part of the list of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Item<'d> {
    /// An event, as text.
    Event { bytes: &'d [u8], offset: usize },
    /// The list has no end.
    Cut { offset: usize },
}

impl Item<'_> {
    pub(super) fn offset(&self) -> usize {
        let (Item::Event { offset, .. } | Item::Cut { offset }) = *self;
        offset
    }
}

/// The events of a profile, one after the other.
#[derive(Debug)]
pub(super) struct Items<'d> {
    profile: &'d [u8],
    at: Option<usize>,
}

impl<'d> Items<'d> {
    pub(super) fn new(profile: &'d [u8]) -> Self {
        const EVENTS: &[u8] = b"\"traceEvents\"";
        let list = memchr::memmem::find(profile, EVENTS).and_then(|at| {
            let after = at + EVENTS.len();
            memchr::memchr(b'[', &profile[after..]).map(|bracket| after + bracket + 1)
        });
        Items { profile, at: list.or(Some(profile.len())) }
    }
}

impl<'d> Iterator for Items<'d> {
    type Item = Item<'d>;

    fn next(&mut self) -> Option<Item<'d>> {
        let at = self.at.take()?;
        let rest = &self.profile[at..];
        let is_event = |byte: &u8| !byte.is_ascii_whitespace() && *byte != b',';
        let offset = at + rest.iter().position(is_event).unwrap_or(rest.len());
        let text = &self.profile[offset..];
        if text.starts_with(b"]") {
            return None;
        }
        let Some(length) = object_length(text) else { return Some(Item::Cut { offset }) };
        self.at = Some(offset + length);
        Some(Item::Event { bytes: &text[..length], offset })
    }
}

/// The length of the object at the beginning, if it has an end. Other bytes end before the next object.
fn object_length(text: &[u8]) -> Option<usize> {
    if !text.starts_with(b"{") {
        return memchr::memchr2(b'{', b']', text).filter(|&length| length > 0);
    }
    let (mut depth, mut is_text, mut is_escaped) = (0, false, false);
    for (at, byte) in text.iter().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            b'{' if !is_text => depth += 1,
            b'}' if !is_text => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
        if depth > MOST_DEPTH {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_profiles_of_bazel_have_a_head() {
        let head = |text: &str| Head::parse(text.as_bytes());
        let old = head(r#" {"otherData" : {"build_id":"a","output_base":"/b","date":"Mon"},"traceEvents":["#);
        assert_eq!(old.expect("a head").started_ns(), None);
        let new = head(r#"{"otherData":{"bazel_version":"8","build_id":"a","profile_start_ts":12},"#).expect("a head");
        assert_eq!((new.started_ns(), new.version()), (Some(12_000_000), Some("8")));
        for other in
            ["", "{", r#"{"traceEvents":["#, r#"{"otherData":{"build_id":"a"}}"#, r#"{"otherData":{"build_id""#]
        {
            assert!(head(other).is_none(), "{other}");
        }
    }

    #[test]
    fn events_are_found_up_to_the_cut() {
        let items = |text: &'static str| {
            let item = |item| match item {
                Item::Event { bytes, .. } => str::from_utf8(bytes).expect("text"),
                Item::Cut { .. } => "cut",
            };
            Items::new(text.as_bytes()).map(item).collect::<Vec<_>>()
        };
        let whole = r#"{"traceEvents":[ {"a":"}\"]"},{"b":{}} ] }"#;
        assert_eq!(items(whole), [r#"{"a":"}\"]"}"#, r#"{"b":{}}"#]);
        assert_eq!(items(r#"{"traceEvents":[{"a":1},{"b""#), [r#"{"a":1}"#, "cut"]);
        assert_eq!(items(r#"{"traceEvents":[1,{"b":1}]"#), ["1,", r#"{"b":1}"#]);
        assert_eq!(items(r#"{"traceEvents""#), ["cut"]);
    }
}
