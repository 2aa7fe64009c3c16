//! Who may ask, and for how much.
//!
//! Any page that a browser shows can send requests to this machine. Two checks
//! keep other sites out. A name that was made to point here (DNS rebinding)
//! shows in `Host`; a request from a page of another site shows in `Origin`.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tiny_http::Request;

/// Pictures that may wait for the one that is worked on.
const WAITING: usize = 8;

/// What all requests share.
pub(super) struct Guard {
    address: SocketAddr,
    /// The largest body, in bytes.
    pub(super) limit: u64,
    /// One picture at a time: each is worked on by all cores.
    work: Mutex<()>,
    waiting: AtomicUsize,
}

/// A place in the queue.
pub(super) struct Place<'a>(&'a Guard);

impl Guard {
    pub(super) fn new(address: SocketAddr, limit: u64) -> Self {
        Self { address, limit, work: Mutex::new(()), waiting: AtomicUsize::new(0) }
    }

    /// Why the request is not answered, if it is not.
    pub(super) fn refuses(&self, request: &Request) -> Option<&'static str> {
        let host = header(request, "Host").unwrap_or_default();
        // Who listens on another address has friends whose names are unknown.
        if self.address.ip().is_loopback() && !self.is_ours(host) {
            return Some("the request is for another host: use the address that kgard printed");
        }
        let origin = header(request, "Origin");
        if origin.is_some_and(|origin| origin.strip_prefix("http://") != Some(host)) {
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

    /// A place in the queue, if it is not too long.
    pub(super) fn place(&self) -> Option<Place<'_>> {
        let before = self.waiting.fetch_add(1, Ordering::SeqCst);
        let place = Place(self);
        (before < WAITING).then_some(place)
    }
}

impl Place<'_> {
    /// Waits for one's turn.
    pub(super) fn turn(&self) -> MutexGuard<'_, ()> {
        // What a panic left is nothing that another picture could be hurt by.
        self.0.work.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::SeqCst);
    }
}

fn header<'a>(request: &'a Request, name: &'static str) -> Option<&'a str> {
    let header = request.headers().iter().find(|header| header.field.equiv(name))?;
    Some(header.value.as_str())
}

#[cfg(test)]
mod tests {
    use super::Guard;

    #[test]
    fn names_of_this_machine() {
        let guard = Guard::new(([127, 0, 0, 1], 8080).into(), 1);
        for host in ["localhost:8080", "LOCALHOST:8080", "127.0.0.1:8080", "[::1]:8080"] {
            assert!(guard.is_ours(host), "{host}");
        }
        for host in
            ["", "localhost", "localhost:80", "evil.example:8080", "[::1]", "127.0.0.1.nip.io:8080"]
        {
            assert!(!guard.is_ours(host), "{host}");
        }
        let plain = Guard::new(([127, 0, 0, 2], 80).into(), 1);
        assert!(plain.is_ours("127.0.0.2") && plain.is_ours("[::1]"));
    }

    #[test]
    fn the_queue_has_an_end() {
        let guard = Guard::new(([127, 0, 0, 1], 0).into(), 1);
        let mut places: Vec<_> = (0..super::WAITING).map(|_| guard.place()).collect();
        assert!(places.iter().all(Option::is_some));
        assert!(guard.place().is_none());
        places.pop();
        assert!(guard.place().is_some());
    }
}
