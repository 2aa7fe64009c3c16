//! Which request gets what.

use super::guard::Guard;
use super::picture::{Form, denoised};
use crate::device::Device;
use crate::error::Error;
use std::io::Read;
use tiny_http::{Header, Method, Request, Response};

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
    kind: String,
    body: Vec<u8>,
}

impl Answer {
    /// A line of text that says what is wrong.
    fn refusal(status: u16, text: &str) -> Self {
        let kind = "text/plain; charset=utf-8".into();
        Self { status, kind, body: format!("{text}\n").into_bytes() }
    }
}

/// Answers a request; gives the status.
pub(super) fn answer(mut request: Request, guard: &Guard, device: Option<&Device>) -> u16 {
    let answer = find(&mut request, guard, device);
    let status = answer.status;
    let mut response = Response::from_data(answer.body).with_status_code(status);
    for (name, value) in [
        ("Content-Type", answer.kind.as_str()),
        ("Content-Security-Policy", POLICY),
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "no-referrer"),
        ("Cache-Control", "no-store"),
    ] {
        if let Ok(header) = Header::from_bytes(name, value) {
            response.add_header(header);
        }
    }
    // Who has gone needs no answer.
    let _ = request.respond(response);
    status
}

fn find(request: &mut Request, guard: &Guard, device: Option<&Device>) -> Answer {
    if let Some(reason) = guard.refuses(request) {
        return Answer::refusal(403, reason);
    }
    let url = request.url().to_owned();
    let (path, query) = url.split_once('?').unwrap_or((&url, ""));
    if path == "/denoise" {
        return match request.method() {
            Method::Post => denoise(request, query, guard, device),
            _ => Answer::refusal(405, "POST a picture to this address"),
        };
    }
    // No other paths than these: there is no file that one could ask for.
    match PAGE.iter().find(|part| part.0 == path) {
        Some((_, kind, text)) if matches!(request.method(), Method::Get | Method::Head) => {
            Answer { status: 200, kind: (*kind).to_owned(), body: text.as_bytes().to_vec() }
        }
        Some(_) => Answer::refusal(405, "this address is for GET"),
        None => Answer::refusal(404, "there is nothing here"),
    }
}

fn denoise(request: &mut Request, query: &str, guard: &Guard, device: Option<&Device>) -> Answer {
    let Some(place) = guard.place() else {
        return Answer::refusal(503, "too many pictures are waiting: try again later");
    };
    let megabytes = guard.limit / 1_000_000;
    let too_large = || {
        let text = format!("the file has more than {megabytes} MB: start kgard serve with --limit");
        Answer::refusal(413, &text)
    };
    // What a request says of its length is believed only if it is too much.
    if request.body_length().is_some_and(|length| length as u64 > guard.limit) {
        return too_large();
    }
    let mut bytes = Vec::new();
    if let Err(error) = request.as_reader().take(guard.limit + 1).read_to_end(&mut bytes) {
        return Answer::refusal(400, &format!("the picture did not arrive: {error}"));
    }
    if bytes.len() as u64 > guard.limit {
        return too_large();
    }
    let turn = place.turn();
    let result = denoised(&bytes, query, device);
    drop(turn);
    match result {
        Ok(form) => Answer { status: 200, kind: Form::KIND.into(), body: form.into_bytes() },
        Err(Error::Usage(text)) => Answer::refusal(400, &text),
        Err(Error::Failed(text)) => Answer::refusal(422, &text),
        Err(Error::PipeClosed) => Answer::refusal(500, "the work was broken off"),
    }
}
