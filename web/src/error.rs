//! Errors of starting the server and of requests.

use barrow_query::QueryError;
use hyper::StatusCode;
use serde::Serialize;

/// The reason why the server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum WebError {
    /// The operands contain nothing that can be served.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// The port is not available.
    #[error("port {port} cannot be used: {source}")]
    Port {
        /// The port; 0 is any.
        port: u16,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The system refuses a resource that a server needs.
    #[error("the server cannot run: {0}")]
    System(#[from] std::io::Error),
}

/// The reason why a request has no answer: a status, and a message for people.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) fault: Fault,
}

/// An error as the page shows it.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Fault {
    /// A sentence.
    message: String,
    /// The exit code of the same question in a shell.
    code: u8,
    /// An expression that was not understood,
    text: Option<String>,
    /// the number of characters before the place,
    column: Option<usize>,
    /// and the way out.
    help: Option<String>,
    /// The command of a shell that does what the page refuses.
    pub(crate) shell: Option<Box<str>>,
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        let code = barrow_query::error::code::USAGE;
        Refusal {
            status,
            fault: Fault { message: message.into(), code, text: None, column: None, help: None, shell: None },
        }
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
                shell: None,
            },
            error => Fault { message: error.to_string(), code, text: None, column: None, help: None, shell: None },
        }
    }

    /// The status of a fault that is found before an answer begins; `None` for one of the recording or the machine.
    pub(crate) fn status(&self) -> Option<StatusCode> {
        (self.code == barrow_query::error::code::USAGE).then_some(StatusCode::BAD_REQUEST)
    }
}
