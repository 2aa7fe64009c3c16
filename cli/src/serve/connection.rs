//! Connections: how many there are, and how long a client may take.
//!
//! All clients share one thread. A client that sends or reads slowly costs its
//! own time only, and is dropped when it misses a deadline:
//!
//! | what the client does | deadline |
//! | --- | --- |
//! | sends the head of a request, or is idle between two | [`HEAD`] |
//! | sends or takes no byte | [`STALL`] |
//! | sends a picture, or takes an answer | [`GRACE`] and [`RATE`] |
//! | waits for its picture to be denoised | none |

use super::Server;
use super::answer::answer;
use crate::messages::detail;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, sleep_until, timeout};

/// Connections at a time; each takes a file descriptor, of which a process has
/// 1024 or 256 by default. For one more, the one that was idle longest goes.
const CONNECTIONS: usize = 200;
/// Longest time for the head of a request, and between two requests.
const HEAD: Duration = Duration::from_secs(10);
/// Bytes of the head of a request; that of a browser has about 1000.
const HEAD_BYTES: usize = 16 << 10;
/// Longest time without a byte from or to a client.
const STALL: Duration = Duration::from_secs(15);
/// Time for a body, in addition to that at [`RATE`].
const GRACE: Duration = Duration::from_secs(30);
/// Slowest transfer of a body, in bytes per second.
const RATE: f64 = 32e3;
/// Longest time for a client that was refused to stop sending. Closing at once
/// would discard the answer before the client has read it.
const LINGER: Duration = Duration::from_secs(2);
/// Pause after an error of the listener: there may be no file descriptors left.
const PAUSE: Duration = Duration::from_millis(100);

/// When a client that began at `start` has to be done with so many bytes.
pub(super) fn deadline(start: Instant, bytes: u64) -> Instant {
    start + GRACE + Duration::from_secs_f64(bytes as f64 / RATE)
}

/// What is known of a connection.
pub(super) struct Pulse {
    /// When the last byte came or went.
    last: Cell<Instant>,
    /// When the answer must have been taken.
    deadline: Cell<Option<Instant>>,
    /// Whether the client waits for us.
    pub(super) working: Cell<bool>,
    /// Tells the connection to close.
    close: Notify,
}

impl Pulse {
    fn new() -> Self {
        Self {
            last: Cell::new(Instant::now()),
            deadline: Cell::new(None),
            working: Cell::new(false),
            close: Notify::new(),
        }
    }

    /// From now on the client takes an answer of so many bytes.
    pub(super) fn answering(&self, bytes: usize) {
        self.working.set(false);
        self.last.set(Instant::now());
        self.deadline.set(Some(deadline(Instant::now(), bytes as u64)));
    }

    /// From now on the client sends a request.
    pub(super) fn asking(&self) {
        self.deadline.set(None);
    }

    /// Returns when the client has missed a deadline, or has to make room.
    async fn lost(&self) {
        let late = async {
            loop {
                let stall = self.last.get() + STALL;
                let end = self.deadline.get().map_or(stall, |end| end.min(stall));
                if self.working.get() {
                    sleep(STALL).await;
                } else if end <= Instant::now() {
                    break;
                } else {
                    sleep_until(end).await;
                }
            }
        };
        tokio::select! {
            () = late => {}
            () = self.close.notified() => {}
        }
    }
}

/// The connections that are open.
#[derive(Default)]
struct Open(RefCell<Vec<Rc<Pulse>>>);

impl Open {
    /// Adds one; the one that was idle longest makes room for it.
    fn add(&self, pulse: &Rc<Pulse>) {
        let mut open = self.0.borrow_mut();
        if open.len() >= CONNECTIONS {
            let idle = open.iter().enumerate().filter(|(_, pulse)| !pulse.working.get());
            if let Some((i, _)) = idle.min_by_key(|(_, pulse)| pulse.last.get()) {
                open.swap_remove(i).close.notify_one();
            }
        }
        open.push(Rc::clone(pulse));
    }

    fn remove(&self, pulse: &Rc<Pulse>) {
        self.0.borrow_mut().retain(|other| !Rc::ptr_eq(other, pulse));
    }
}

/// Accepts connections for ever.
pub(super) async fn accept(listener: TcpListener, server: Rc<Server>) {
    let open = Rc::new(Open::default());
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                detail(&format!("a connection failed: {error}"));
                sleep(PAUSE).await;
                continue;
            }
        };
        let (open, server, pulse) = (Rc::clone(&open), Rc::clone(&server), Rc::new(Pulse::new()));
        open.add(&pulse);
        tokio::task::spawn_local(async move {
            tokio::select! {
                () = converse(stream, &server, &pulse) => {}
                () = pulse.lost() => {}
            }
            open.remove(&pulse);
        });
    }
}

/// Answers the requests of a connection.
async fn converse(stream: TcpStream, server: &Rc<Server>, pulse: &Rc<Pulse>) {
    // Answers are written at once: there is nothing to wait for.
    let _ = stream.set_nodelay(true);
    let io = TokioIo::new(Watched { stream, pulse: Rc::clone(pulse) });
    let service = service_fn(|request| {
        let (server, pulse) = (Rc::clone(server), Rc::clone(pulse));
        Box::pin(async move {
            Ok::<_, std::convert::Infallible>(answer(request, &server, &pulse).await)
        })
    });
    let mut connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_header_size(HEAD_BYTES)
        .max_buf_size(4 * HEAD_BYTES)
        .title_case_headers(true)
        .serve_connection(io, service);
    if let Err(error) = poll_fn(|context| connection.poll_without_shutdown(context)).await {
        detail(&format!("a request was broken off: {error}"));
    }
    let mut stream = connection.into_parts().io.into_inner().stream;
    let _ = stream.shutdown().await;
    let rest = async {
        let mut discarded = [0; 4096];
        while stream.read(&mut discarded).await.is_ok_and(|count| count > 0) {}
    };
    let _ = timeout(LINGER, rest).await;
}

/// A stream that notes when bytes come and go.
struct Watched {
    stream: TcpStream,
    pulse: Rc<Pulse>,
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let poll = Pin::new(&mut self.stream).poll_read(context, buffer);
        if buffer.filled().len() > before {
            self.pulse.last.set(Instant::now());
        }
        poll
    }
}

impl AsyncWrite for Watched {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.stream).poll_write(context, bytes);
        if matches!(poll, Poll::Ready(Ok(1..))) {
            self.pulse.last.set(Instant::now());
        }
        poll
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::{CONNECTIONS, Open, Pulse};
    use std::rc::Rc;
    use std::time::Duration;
    use tokio::time::Instant;

    #[test]
    fn the_longest_idle_makes_room() {
        let open = Open::default();
        let now = Instant::now();
        let pulses: Vec<Rc<Pulse>> = (0..CONNECTIONS + 2).map(|_| Rc::new(Pulse::new())).collect();
        for (i, pulse) in (0_u64..).zip(&pulses[..CONNECTIONS]) {
            pulse.last.set(now + Duration::from_millis(i));
            open.add(pulse);
        }
        // The oldest is worked for, and stays.
        pulses[0].working.set(true);
        for pulse in &pulses[CONNECTIONS..] {
            pulse.last.set(now + Duration::from_hours(1));
            open.add(pulse);
        }
        let is_open = |i: usize| open.0.borrow().iter().any(|other| Rc::ptr_eq(other, &pulses[i]));
        assert_eq!(open.0.borrow().len(), CONNECTIONS);
        assert_eq!([0, 1, 2, 3].map(is_open), [true, false, false, true]);
        open.remove(&pulses[0]);
        assert!(!is_open(0));
    }
}
