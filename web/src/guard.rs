//! The check of requests: only those of this page, in the browser of the user who started the server, are answered.
//!
//! Any web page can make a browser send requests to this machine, and any program on the machine can send some. So a
//! request for data needs the token of the printed address, in a header. The page keeps it in the storage of its
//! origin, which includes the port; a cookie would be sent to every server on this machine. As a second layer, the
//! request must have this server as its host, so that no other name leads here, and must not come from another page.

use hyper::header::{AUTHORIZATION, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN};
use hyper::{Method, StatusCode};

use crate::error::Refusal;

/// Headers of every response. The page runs its own scripts only, and nothing leaves the machine.
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

    /// The address that admits a browser.
    pub(crate) fn address(&self, fragment: &str) -> String {
        let hash = if fragment.is_empty() { "" } else { "#" };
        format!("http://127.0.0.1:{}/?token={}{hash}{fragment}", self.port, self.token)
    }

    /// Returns whether this is the token.
    pub(crate) fn is_token(&self, text: &str) -> bool {
        // The comparison takes the same time wherever the first difference is.
        let differences = text.bytes().zip(self.token.bytes()).fold(0, |found, (one, other)| found | (one ^ other));
        text.len() == self.token.len() && differences == 0
    }

    /// Refuses a request for another host, or made by another page.
    pub(crate) fn check_origin(&self, method: &Method, headers: &HeaderMap) -> Result<(), Refusal> {
        let text = |name: &HeaderName| headers.get(name).map(HeaderValue::to_str);
        let hosts = ["127.0.0.1", "localhost", "[::1]"].map(|host| format!("{host}:{}", self.port));
        let host = text(&HOST).filter(|_| headers.get_all(HOST).iter().count() == 1);
        if !matches!(host, Some(Ok(host)) if is_any_of(&hosts, host)) {
            let message = format!("this is the server of {}: open that address", hosts[0]);
            return Err(Refusal::new(StatusCode::MISDIRECTED_REQUEST, message));
        }
        // Of repeated headers, each counts.
        let is_own_site = all_are(headers, &SEC_FETCH_SITE, |site| matches!(site, "same-origin" | "none"));
        let is_own_origin = all_are(headers, &ORIGIN, |origin| {
            origin.strip_prefix("http://").is_some_and(|host| is_any_of(&hosts, host))
        });
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

/// Returns whether a host is one of these, in any case.
fn is_any_of(hosts: &[String], host: &str) -> bool {
    hosts.iter().any(|known| known.eq_ignore_ascii_case(host))
}

/// Returns whether all values of a header are right.
fn all_are(headers: &HeaderMap, name: &HeaderName, is_right: impl Fn(&str) -> bool) -> bool {
    headers.get_all(name).iter().all(|value| value.to_str().is_ok_and(&is_right))
}
