//! Why there is no server, and why a request has no answer.

use barrow_query::QueryError;
use hyper::StatusCode;
use serde::Serialize;

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub enum WebError {
    /// The operands name nothing that can be served.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// The port cannot be had.
    #[error("port {port} cannot be used: {source}")]
    Port {
        /// The port; 0 is any.
        port: u16,
        /// Why.
        source: std::io::Error,
    },
    /// The system does not give what a server needs.
    #[error("the server cannot run: {0}")]
    System(#[from] std::io::Error),
}

/// Why a request has no answer: a status, and what a person reads.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) fault: Fault,
}

/// What went wrong, as the page shows it.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Fault {
    /// A sentence.
    message: String,
    /// The exit code that the same question has in a shell.
    code: u8,
    /// An expression that was not understood,
    text: Option<String>,
    /// the number of characters before the place,
    column: Option<usize>,
    /// and the way out.
    help: Option<String>,
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        let code = barrow_query::error::code::USAGE;
        Refusal { status, fault: Fault { message: message.into(), code, text: None, column: None, help: None } }
    }
}

impl Fault {
    pub(crate) fn of(error: &QueryError) -> Self {
        let code = error.code();
        match error {
            QueryError::Expression { message, text, column, help } => Fault {
                message: message.clone(),
                code,
                text: Some(text.clone()),
                column: Some(*column),
                help: Some(help.clone()),
            },
            error => Fault { message: error.to_string(), code, text: None, column: None, help: None },
        }
    }

    /// The status of a fault that is found before an answer begins; `None` for one of the recording or the machine.
    pub(crate) fn status(&self) -> Option<StatusCode> {
        (self.code == barrow_query::error::code::USAGE).then_some(StatusCode::BAD_REQUEST)
    }
}
