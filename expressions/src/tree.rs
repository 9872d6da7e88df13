//! The tree of an expression.

/// An expression or a part of one, with the terms of a [`Language`](crate::Language).
#[derive(Debug, Clone)]
pub enum Node<T> {
    /// Any of them.
    Any(Vec<Node<T>>),
    /// All of them. Without parts it matches every row.
    All(Vec<Node<T>>),
    /// The opposite.
    Not(Box<Node<T>>),
    /// A comparison, a property, or named rows.
    Term(T),
}

impl<T> Node<T> {
    /// All terms, from left to right.
    pub fn terms(&self) -> Vec<&T> {
        let mut terms = Vec::new();
        self.collect(&mut terms);
        terms
    }

    fn collect<'n>(&'n self, terms: &mut Vec<&'n T>) {
        match self {
            Node::Any(nodes) | Node::All(nodes) => nodes.iter().for_each(|node| node.collect(terms)),
            Node::Not(node) => node.collect(terms),
            Node::Term(term) => terms.push(term),
        }
    }
}
