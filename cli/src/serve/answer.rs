//! Which request gets what.

use super::Server;
use super::connection::{Pulse, deadline};
use super::picture::{Form, Refused, denoised, options, size};
use super::queue::Upload;
use crate::messages::detail;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use std::sync::Arc;
use tokio::time::{Instant, timeout_at};

/// The page may load its own parts, and pictures that it made; nothing else.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
     img-src 'self' blob: data:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'";

/// The parts of the page: path, type and content.
const PAGE: [(&str, &str, &str); 4] = [
    ("/", "text/html; charset=utf-8", include_str!("page.html")),
    ("/page.css", "text/css; charset=utf-8", include_str!("page.css")),
    ("/page.js", "text/javascript; charset=utf-8", include_str!("page.js")),
    ("/icon.svg", "image/svg+xml", include_str!("icon.svg")),
];

/// What is sent back.
struct Answer {
    status: u16,
    kind: &'static str,
    body: Bytes,
}

impl Answer {
    /// A line of text that says what is wrong.
    fn refusal(status: u16, text: &str) -> Self {
        Self { status, kind: "text/plain; charset=utf-8", body: format!("{text}\n").into() }
    }

    fn busy(what: &str) -> Self {
        Self::refusal(503, &format!("{what}: try again later"))
    }
}

impl From<Refused> for Answer {
    fn from(refused: Refused) -> Self {
        Self::refusal(refused.status, &refused.text)
    }
}

/// Answers a request.
pub(super) async fn answer(
    request: Request<Incoming>,
    server: &Server,
    pulse: &Pulse,
) -> Response<Full<Bytes>> {
    pulse.asking();
    let line = format!("{} {}", request.method(), request.uri());
    let answer = find(request, server, pulse).await.unwrap_or_else(|refusal| refusal);
    detail(&format!("{line}: {}", answer.status));
    pulse.answering(answer.body.len());
    let mut response = Response::new(Full::new(answer.body));
    *response.status_mut() =
        StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers: [(HeaderName, &'static str); 5] = [
        (header::CONTENT_TYPE, answer.kind),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    for (name, value) in headers {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

async fn find(
    request: Request<Incoming>,
    server: &Server,
    pulse: &Pulse,
) -> Result<Answer, Answer> {
    if let Some(reason) = server.guard.refuses(request.headers()) {
        return Err(Answer::refusal(403, reason));
    }
    let path = request.uri().path();
    if path == "/denoise" {
        return match *request.method() {
            Method::POST => denoise(request, server, pulse).await,
            _ => Err(Answer::refusal(405, "POST a picture to this address")),
        };
    }
    // No other paths than these: there is no file that one could ask for.
    match PAGE.iter().find(|part| part.0 == path) {
        Some((_, kind, text)) if matches!(*request.method(), Method::GET | Method::HEAD) => {
            Ok(Answer { status: 200, kind, body: Bytes::from_static(text.as_bytes()) })
        }
        Some(_) => Err(Answer::refusal(405, "this address is for GET")),
        None => Err(Answer::refusal(404, "there is nothing here")),
    }
}

async fn denoise(
    request: Request<Incoming>,
    server: &Server,
    pulse: &Pulse,
) -> Result<Answer, Answer> {
    const FULL: &str = "too many pictures are waiting";
    // Before the client sends a picture for nothing.
    if server.queue.is_full() {
        return Err(Answer::busy(FULL));
    }
    let (head, body) = request.into_parts();
    let options = options(head.uri.query().unwrap_or_default())?;
    let mut upload = receive(body, server).await?;
    pulse.working.set(true);
    let bytes = upload.take();
    let (bytes, size) = blocking(move || size(&bytes).map(|size| (bytes, size))).await??;
    // If the client leaves, this function ends at one of the next two `await`s,
    // and the place is given back.
    let place = server.queue.place().ok_or_else(|| Answer::busy(FULL))?;
    let turn = place.turn().await;
    let (device, memory) = (Arc::clone(&server.device), server.memory);
    let work = move || {
        let result = denoised(&bytes, size, &options, device.as_ref().as_ref(), memory);
        // Not before the end of the work, even if the client has left.
        drop(turn);
        result
    };
    let form = blocking(work).await??;
    Ok(Answer { status: 200, kind: Form::KIND, body: form.into_bytes().into() })
}

/// The result of work on another thread.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Answer> {
    let bug = |_| Answer::refusal(500, "kgard failed on this picture: this is a bug in it");
    tokio::task::spawn_blocking(work).await.map_err(bug)
}

/// The body of a request.
async fn receive(mut body: Incoming, server: &Server) -> Result<Upload, Answer> {
    let limit = server.limit;
    let too_large = || {
        let megabytes = limit / 1_000_000;
        let text = format!("the file has more than {megabytes} MB: start kgard serve with --limit");
        Answer::refusal(413, &text)
    };
    // A length that is announced is believed only if it is too large.
    if body.size_hint().lower() > limit {
        return Err(too_large());
    }
    let mut upload = server.queue.upload();
    let start = Instant::now();
    loop {
        let frame = match timeout_at(deadline(start, upload.len()), body.frame()).await {
            Ok(Some(Ok(frame))) => frame,
            Ok(None) => return Ok(upload),
            Ok(Some(Err(error))) => {
                return Err(Answer::refusal(400, &format!("the picture did not arrive: {error}")));
            }
            Err(_) => return Err(Answer::refusal(408, "the picture took too long to arrive")),
        };
        let Some(data) = frame.data_ref() else { continue };
        if upload.len() + data.len() as u64 > limit {
            return Err(too_large());
        }
        if !upload.add(data) {
            return Err(Answer::busy("too many pictures are arriving"));
        }
    }
}
