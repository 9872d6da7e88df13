//! Differences in the circumstances of two recordings of trials.

/// The facts that figures depend on, with their names for people.
const FACTS: [(&str, &str); 4] =
    [("layout", "layout"), ("host", "machine"), ("cores", "number of cores"), ("kernel", "kernel")];

/// A fact of a recording: its key and its value.
type Fact = (String, String);

/// The facts in which two recordings differ, if both have them: a baseline of other circumstances says little.
pub(crate) fn differences(a: &[Fact], b: &[Fact]) -> Option<String> {
    let differ: Vec<String> = FACTS
        .iter()
        .filter_map(|(key, name)| {
            let [old, new] = [a, b].map(|facts| facts.iter().find(|(known, _)| known == key));
            let (old, new) = (&old?.1, &new?.1);
            (old != new).then(|| format!("{name} {old} in A, {new} in B"))
        })
        .collect();
    (!differ.is_empty())
        .then(|| format!("recorded under other circumstances ({}): baselines do not carry over", differ.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_both_say_and_differs_is_named() {
        let facts =
            |layout: &str| vec![("layout".to_owned(), layout.to_owned()), ("seed".to_owned(), layout.to_owned())];
        assert_eq!(differences(&facts("fixed"), &facts("fixed")), None);
        assert_eq!(differences(&[], &facts("fixed")), None);
        let said = differences(&facts("as-is"), &facts("random")).unwrap();
        assert!(said.contains("layout as-is in A, random in B") && !said.contains("seed"), "{said}");
    }
}
