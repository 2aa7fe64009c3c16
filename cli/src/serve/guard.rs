//! Who may ask.
//!
//! Any page that a browser shows can send requests to this machine. Two checks
//! keep other sites out. A name that was made to point here (DNS rebinding)
//! shows in `Host`; a request from a page of another site shows in `Origin`.

use hyper::HeaderMap;
use hyper::header::{HOST, ORIGIN};
use std::net::SocketAddr;

/// The checks, for the address that is listened on.
pub(super) struct Guard {
    address: SocketAddr,
}

impl Guard {
    pub(super) fn new(address: SocketAddr) -> Self {
        Self { address }
    }

    /// Why the request is not answered, if it is not.
    pub(super) fn refuses(&self, headers: &HeaderMap) -> Option<&'static str> {
        if headers.get_all(HOST).iter().nth(1).is_some() {
            return Some("the request names two hosts");
        }
        // Text that is no ASCII is the name of no host of ours.
        let text = |value: &hyper::header::HeaderValue| value.to_str().unwrap_or("?").to_owned();
        let host = headers.get(HOST).map(text).unwrap_or_default();
        // Other machines may know this one by any name.
        if self.address.ip().is_loopback() && !self.is_ours(&host) {
            return Some("the request is for another host: use the address that kgard printed");
        }
        let mut origins = headers.get_all(ORIGIN).iter().map(text);
        if origins.any(|origin| origin.strip_prefix("http://") != Some(&host)) {
            return Some("the request comes from the page of another site");
        }
        None
    }

    /// Whether a name of this machine, with our port, is meant.
    fn is_ours(&self, host: &str) -> bool {
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => (name, port.parse().ok()),
            _ => (host, Some(80)),
        };
        let name = name.to_ascii_lowercase();
        let ours = ["localhost", "127.0.0.1", "[::1]"].contains(&name.as_str())
            || name.trim_matches(['[', ']']) == self.address.ip().to_string();
        ours && port == Some(self.address.port())
    }
}

#[cfg(test)]
mod tests {
    use super::Guard;

    #[test]
    fn names_of_this_machine() {
        let guard = Guard::new(([127, 0, 0, 1], 8080).into());
        for host in ["localhost:8080", "LOCALHOST:8080", "127.0.0.1:8080", "[::1]:8080"] {
            assert!(guard.is_ours(host), "{host}");
        }
        for host in
            ["", "localhost", "localhost:80", "evil.example:8080", "[::1]", "127.0.0.1.nip.io:8080"]
        {
            assert!(!guard.is_ours(host), "{host}");
        }
        let plain = Guard::new(([127, 0, 0, 2], 80).into());
        assert!(plain.is_ours("127.0.0.2") && plain.is_ours("[::1]"));
    }
}
