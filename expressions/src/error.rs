//! Errors in the text of an expression, with their positions.

/// An error in the text of an expression.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ExpressionError {
    /// The position in the text, in bytes.
    pub position: usize,
    /// The error, and the alternatives at this position.
    pub message: String,
}

impl ExpressionError {
    /// An error at a position.
    #[must_use]
    pub fn new(position: usize, message: impl Into<String>) -> Self {
        ExpressionError { position, message: message.into() }
    }
}
