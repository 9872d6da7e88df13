//! Which requests are answered at all: those of this page, in the browser of who started the server.
//!
//! Any page of the web can make a browser send requests to this machine, and any program of the machine can send some. So
//! a request for data needs the token of the address that was printed, in a header. The page keeps it in the storage of
//! its origin, which has the port; a cookie would go to every server of this machine. As a second layer, the request must
//! name this server as its host, so that no other name leads here, and must not come from another page.

use hyper::header::{AUTHORIZATION, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN};
use hyper::{Method, StatusCode};

use crate::error::Refusal;

/// What every response says. The page runs its own scripts only, and nothing leaves the machine.
pub(crate) const HEADERS: [(&str, &str); 7] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    ("x-frame-options", "DENY"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=()"),
];

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The secret of a server, and its port.
pub(crate) struct Guard {
    token: String,
    port: u16,
}

impl Guard {
    /// A guard with a new token.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub(crate) fn new(port: u16) -> std::io::Result<Self> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
        Ok(Guard { token: bytes.iter().map(|byte| format!("{byte:02x}")).collect(), port })
    }

    /// The address that lets a browser in.
    pub(crate) fn address(&self, fragment: &str) -> String {
        let hash = if fragment.is_empty() { "" } else { "#" };
        format!("http://127.0.0.1:{}/?token={}{hash}{fragment}", self.port, self.token)
    }

    /// Whether this is the token.
    pub(crate) fn is_token(&self, text: &str) -> bool {
        // In the same time wherever the first difference is.
        let differences = text.bytes().zip(self.token.bytes()).fold(0, |found, (one, other)| found | (one ^ other));
        text.len() == self.token.len() && differences == 0
    }

    /// Refuses a request for another host, and one that another page makes.
    pub(crate) fn check_origin(&self, method: &Method, headers: &HeaderMap) -> Result<(), Refusal> {
        let text = |name: &HeaderName| headers.get(name).map(HeaderValue::to_str);
        let hosts = ["127.0.0.1", "localhost", "[::1]"].map(|host| format!("{host}:{}", self.port));
        let is_ours = |host: &str| hosts.iter().any(|ours| ours.eq_ignore_ascii_case(host));
        let host = text(&HOST).filter(|_| headers.get_all(HOST).iter().count() == 1);
        if !matches!(host, Some(Ok(host)) if is_ours(host)) {
            let message = format!("this is the server of {}: open that address", hosts[0]);
            return Err(Refusal::new(StatusCode::MISDIRECTED_REQUEST, message));
        }
        // Of headers that are given twice, each counts.
        let all = |name: &HeaderName, is_right: &dyn Fn(&str) -> bool| {
            headers.get_all(name).iter().all(|value| value.to_str().is_ok_and(is_right))
        };
        let is_own_site = all(&SEC_FETCH_SITE, &|site| matches!(site, "same-origin" | "none"));
        let is_own_origin = all(&ORIGIN, &|origin| origin.strip_prefix("http://").is_some_and(is_ours));
        if !is_own_site || !is_own_origin {
            let message = "this request comes from another page; open the address that `barrow serve` printed";
            return Err(Refusal::new(StatusCode::FORBIDDEN, message));
        }
        if ![Method::GET, Method::HEAD, Method::POST].contains(method) {
            return Err(Refusal::new(StatusCode::METHOD_NOT_ALLOWED, format!("there is nothing to {method} here")));
        }
        Ok(())
    }

    /// Refuses a request without the token.
    pub(crate) fn check_token(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let bearer = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
        if bearer.is_some_and(|token| self.is_token(token)) {
            return Ok(());
        }
        let message = "this page needs the token of the address that `barrow serve` printed: open that whole address";
        Err(Refusal::new(StatusCode::UNAUTHORIZED, message))
    }
}
