//! `kgard serve`, as another program sees it.

use crate::common::{Folder, Random};
use crate::pictures::{claims, decode, noisy};
use image::{ColorType, DynamicImage, ImageFormat};
use std::io::{BufRead, BufReader, Cursor, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
#[cfg(target_os = "linux")]
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

/// The program, as long as the test runs.
struct Server {
    child: Child,
    /// As in `127.0.0.1:1234`.
    host: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Answer {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Server {
    fn new(options: &str) -> Self {
        let mut child = Command::new(assert_cmd::cargo::cargo_bin!("kgard"))
            .args(["serve", "--port", "0"])
            .args(options.split_whitespace())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("standard output");
        BufReader::new(stdout).read_line(&mut line).expect("a line");
        let host = line.trim().strip_prefix("http://").and_then(|url| url.strip_suffix('/'));
        let host = host.unwrap_or_else(|| panic!("{line:?} is no address")).to_owned();
        Self { child, host }
    }

    fn connect(&self) -> TcpStream {
        TcpStream::connect(&self.host).expect("a connection")
    }

    /// Begins to send a picture, and leaves it at half of it.
    fn begin(&self) -> TcpStream {
        let mut stream = self.connect();
        let head = format!(
            "POST /denoise HTTP/1.1\r\nHost: {}\r\nContent-Length: 1000\r\n\r\n",
            self.host
        );
        stream.write_all(head.as_bytes()).expect("a head is sent");
        stream.write_all(&[0; 500]).expect("half a body is sent");
        stream
    }

    /// A number that Linux tells of the program.
    #[cfg(target_os = "linux")]
    fn status(&self, name: &str) -> u64 {
        let path = format!("/proc/{}/status", self.child.id());
        let text = std::fs::read_to_string(path).expect("the program runs");
        let line = text.lines().find_map(|line| line.strip_prefix(name)).expect("a line");
        line.split_whitespace().next().expect("a number").parse().expect("a number")
    }

    /// Sends a request with these lines after the first.
    fn ask(&self, line: &str, headers: &[&str], body: &[u8]) -> Answer {
        let mut stream = self.connect();
        let mut head = format!("{line} HTTP/1.1\r\nConnection: close\r\n");
        for header in headers {
            head.push_str(header);
            head.push_str("\r\n");
        }
        head += "\r\n";
        stream.write_all(head.as_bytes()).expect("a head is sent");
        // A server that refuses need not read on.
        let _ = stream.write_all(body);
        Answer::read(stream)
    }

    fn get(&self, path: &str) -> Answer {
        self.ask(&format!("GET {path}"), &[&format!("Host: {}", self.host)], b"")
    }

    /// A client that sends its picture at once, or slowly.
    #[cfg(target_os = "linux")]
    fn post_in_pieces(&self, body: &[u8], slowly: bool) -> Answer {
        let head = format!(
            "POST /denoise HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            self.host,
            body.len()
        );
        let mut stream = self.connect();
        stream.write_all(head.as_bytes()).expect("a head is sent");
        // A server that has no place refuses before it has read on.
        if slowly {
            for piece in body.chunks(body.len() / 5 + 1) {
                let _ = stream.write_all(piece);
                sleep(Duration::from_millis(10));
            }
        } else {
            let _ = stream.write_all(body);
        }
        Answer::read(stream)
    }

    fn post(&self, path: &str, body: &[u8]) -> Answer {
        let headers = [format!("Host: {}", self.host), format!("Content-Length: {}", body.len())];
        self.ask(&format!("POST {path}"), &headers.each_ref().map(String::as_str), body)
    }
}

impl Answer {
    /// All that comes until the server hangs up.
    fn read(mut stream: TcpStream) -> Self {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("a head");
        let head = String::from_utf8(bytes[..end].to_vec()).expect("UTF-8");
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
        Self { status, head, body: bytes[end + 4..].to_vec() }
    }

    fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("UTF-8")
    }

    /// A part of the form.
    fn part(&self, name: &str) -> Option<&[u8]> {
        let find = |from: usize, what: &str| {
            let bytes = what.as_bytes();
            self.body[from..].windows(bytes.len()).position(|w| w == bytes).map(|i| from + i)
        };
        let (_, boundary) = self.head.split_once("boundary=").expect("a form");
        let boundary = boundary.lines().next().expect("a line");
        let head = find(0, &format!("form-data; name=\"{name}\""))?;
        let start = find(head, "\r\n\r\n")? + 4;
        let end = find(start, &format!("\r\n--{boundary}"))?;
        Some(&self.body[start..end])
    }

    fn picture(&self, name: &str) -> DynamicImage {
        decode(self.part(name).unwrap_or_else(|| panic!("no {name}")))
    }
}

fn bytes(picture: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    picture.write_to(&mut bytes, format).expect("a file");
    bytes.into_inner()
}

#[test]
fn the_page_and_nothing_else() {
    let server = Server::new("");
    let page = server.get("/");
    assert_eq!(page.status, 200);
    assert!(page.head.contains("Content-Security-Policy: default-src 'none'"), "{}", page.head);
    for part in ["page.css", "page.js", "icon.svg"] {
        assert!(page.text().contains(&format!("\"{part}\"")), "{part}");
        assert_eq!(server.get(&format!("/{part}")).status, 200);
    }
    // Nothing on the page comes from elsewhere.
    for part in ["/", "/page.css", "/page.js"] {
        assert!(!server.get(part).text().contains("http"), "{part}");
    }
    for path in ["/none", "/../Cargo.toml", "/%2e%2e/Cargo.toml", "//etc/passwd", "/page.css/x"] {
        assert_eq!(server.get(path).status, 404, "{path}");
    }
    assert_eq!(server.get("/denoise").status, 405);
    assert_eq!(server.post("/", b"x").status, 405);
}

/// The same bytes as those of the command, with the same options.
#[test]
fn a_picture() {
    let (server, folder) = (Server::new(""), Folder::new());
    for (name, color, format, options, query) in [
        ("a.png", ColorType::L8, ImageFormat::Png, "", ""),
        ("b.png", ColorType::Rgb16, ImageFormat::Png, " --method kgard", "?method=kgard"),
        ("c.tif", ColorType::L16, ImageFormat::Tiff, " --stop max:9000", "?stop=max%3A9000&sigma="),
        ("d.png", ColorType::Rgba8, ImageFormat::Png, " --noise-sigma 9", "?noise-sigma=9"),
    ] {
        let picture = bytes(&noisy(color, 40, 32), format);
        folder.write(name, &picture);
        let command = format!("denoise {name} -o clean-{name} --outliers map.png --json{options}");
        let json = folder.kgard(&command).json();
        let answer = server.post(&format!("/denoise{query}"), &picture);
        assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
        assert_eq!(answer.part("clean"), Some(&folder.bytes(&format!("clean-{name}"))[..]));
        assert_eq!(answer.picture("outliers"), folder.open("map.png"));
        assert_eq!(answer.picture("before").width(), 40);
        assert_eq!(answer.part("shown").is_some(), format == ImageFormat::Tiff);
        let report: serde_json::Value =
            serde_json::from_slice(answer.part("report").expect("a report")).expect("JSON");
        for key in ["outliers", "noise_sigma", "method", "bit_depth", "lambda", "width"] {
            assert_eq!(report[key], json[key], "{name}: {key}");
        }
    }
}

#[test]
fn what_is_refused() {
    let server = Server::new("--limit 1");
    let picture = bytes(&noisy(ColorType::L8, 20, 20), ImageFormat::Png);
    for (path, body, status, text) in [
        ("/denoise", &b"no picture"[..], 422, "the file: is not a picture"),
        ("/denoise", b"", 422, "is empty"),
        ("/denoise", &picture[..60], 422, "is not a usable picture"),
        ("/denoise?method=magic", &picture, 400, "magic"),
        ("/denoise?noise-sigma=-1", &picture, 400, "zero or more"),
        ("/denoise?roi=11", &picture, 400, "--roi and --core"),
        ("/denoise?outliers=x.png", &picture, 400, "no such option"),
        ("/denoise?output=x.png", &picture, 400, "no such option"),
        ("/denoise?format=webp&stop=--overwrite", &picture, 400, "max:E"),
        ("/denoise", &vec![0; 1_100_000], 413, "more than 1 MB"),
    ] {
        let answer = server.post(path, body);
        assert_eq!(answer.status, status, "{path}: {}", String::from_utf8_lossy(&answer.body));
        assert!(answer.text().contains(text), "{path}: {}", answer.text());
        assert_eq!(answer.text().trim().lines().count(), 1);
    }
    // A length that is not told beforehand.
    let host = format!("Host: {}", server.host);
    let mut chunks = Vec::new();
    for _ in 0..20 {
        chunks.extend(b"10000\r\n");
        chunks.extend(vec![0; 0x10000]);
        chunks.extend(b"\r\n");
    }
    chunks.extend(b"0\r\n\r\n");
    let answer = server.ask("POST /denoise", &[&host, "Transfer-Encoding: chunked"], &chunks);
    assert_eq!(answer.status, 413);
    // It still works.
    assert_eq!(server.post("/denoise", &picture).status, 200);
}

#[test]
fn other_sites() {
    let server = Server::new("");
    let port = server.host.rsplit(':').next().expect("a port").to_owned();
    let ours = format!("Host: {}", server.host);
    let status = |headers: &[&str]| server.ask("POST /denoise", headers, b"").status;
    // Not refused: only that there is no picture in it.
    let from_here = format!("Origin: http://{}", server.host);
    for headers in [&[ours.as_str()][..], &[&ours, &from_here]] {
        let headers = [headers, &["Content-Length: 0"]].concat();
        assert_eq!(status(&headers), 422);
    }
    for origin in ["http://evil.example", "https://evil.example", "null", "http://localhost:1"] {
        let origin = format!("Origin: {origin}");
        assert_eq!(status(&[&ours, &origin, "Content-Length: 0"]), 403, "{origin}");
    }
    for host in ["evil.example", "evil.example:PORT", "127.0.0.1", "127.0.0.1:1", ""] {
        let host = format!("Host: {}", host.replace("PORT", &port));
        assert_eq!(status(&[&host, "Content-Length: 0"]), 403, "{host}");
        assert_eq!(server.ask("GET /", &[&host], b"").status, 403, "{host}");
    }
    assert_eq!(server.ask("GET /", &[&format!("Host: localhost:{port}")], b"").status, 200);
    assert_eq!(server.ask("GET /", &[], b"").status, 403);
}

#[test]
fn many_at_once() {
    let server = Server::new("");
    let pictures: Vec<Vec<u8>> =
        (0..6).map(|i| bytes(&noisy(ColorType::L8, 30 + i, 24), ImageFormat::Png)).collect();
    scope(|scope| {
        for (picture, width) in pictures.iter().zip(30..) {
            let server = &server;
            scope.spawn(move || {
                let answer = server.post("/denoise", picture);
                assert_eq!(answer.status, 200);
                assert_eq!(answer.picture("clean").width(), width);
                assert_eq!(server.get("/").status, 200);
            });
        }
    });
}

#[test]
fn addresses() {
    let folder = Folder::new();
    let server = Server::new("--host ::1");
    assert!(server.host.starts_with("[::1]:"), "{}", server.host);
    assert_eq!(server.get("/").status, 200);
    // A port that is taken.
    let port = server.host.rsplit(':').next().expect("a port");
    let run = folder.kgard(&format!("serve --host ::1 --port {port}"));
    run.fails(1, &["cannot be listened on", "--port 0"]);
    for host in ["0.0.0.0", "::", "192.0.2.1"] {
        let texts = ["without a password", "unencrypted", "--allow-network"];
        folder.kgard(&format!("serve --host {host}")).fails(2, &texts);
    }
    let server = Server::new("--host 0.0.0.0 --allow-network");
    assert_eq!(server.get("/").status, 200);
    folder.kgard("serve --host example.org").fails(2, &["--host"]);
    folder.kgard("serve --port 70000").fails(2, &["--port"]);
}

/// An announced length is trusted only for refusing a request, whatever the reason.
#[test]
fn a_huge_length() {
    let server = Server::new("");
    let ours = format!("Host: {}", server.host);
    let length = "Content-Length: 999999999999";
    for (line, host, status) in [
        ("POST /denoise", ours.as_str(), 413),
        ("POST /", &ours, 405),
        ("POST /none", &ours, 404),
        ("GET /", &ours, 200),
        ("POST /denoise", "Host: evil.example", 403),
    ] {
        assert_eq!(server.ask(line, &[host, length], b"some").status, status, "{line} {host}");
    }
    let length = "Content-Length: 99999999999999999999999999";
    assert_eq!(server.ask("POST /denoise", &[&ours, length], b"").status, 400);
    assert_eq!(server.get("/").status, 200);
}

#[test]
fn a_huge_head() {
    let server = Server::new("");
    #[cfg(target_os = "linux")]
    let before = server.status("VmHWM:");
    for line in [&b"X-Long: "[..], b"X-Many: 1\r\n"] {
        let mut stream = server.connect();
        stream.write_all(b"GET / HTTP/1.1\r\n").expect("a line is sent");
        let block = line.repeat((1 << 20) / line.len());
        // 150 MB, or as far as the server listens.
        for _ in (0..150).take_while(|_| stream.write_all(&block).is_ok()) {}
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer);
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431"), "{answer}");
    }
    #[cfg(target_os = "linux")]
    assert!(server.status("VmHWM:") < before + 10_000, "{} kB", server.status("VmHWM:"));
    assert_eq!(server.get("/").status, 200);
}

/// Clients that do nothing, or send half a picture, are in nobody's way.
#[test]
fn idle_and_stalled_clients() {
    let server = Server::new("");
    #[cfg(target_os = "linux")]
    let threads = server.status("Threads:");
    let picture = bytes(&noisy(ColorType::L8, 30, 24), ImageFormat::Png);
    let mut others: Vec<TcpStream> = (0..500).map(|_| server.connect()).collect();
    others.extend((0..50).map(|_| server.begin()));
    let start = Instant::now();
    for _ in 0..5 {
        assert_eq!(server.get("/").status, 200);
        assert_eq!(server.post("/denoise", &picture).status, 200);
    }
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    #[cfg(target_os = "linux")]
    {
        // The threads of the work itself may have started since.
        let cores = std::thread::available_parallelism().map_or(1, usize::from) as u64;
        assert!(server.status("Threads:") <= threads + cores + 2);
    }
    // Those that say nothing are sent away in the end.
    let mut idle = others.remove(499);
    idle.set_read_timeout(Some(Duration::from_mins(1))).expect("a timeout");
    assert!(matches!(idle.read(&mut [0]), Ok(0) | Err(_)));
    assert!(start.elapsed() < Duration::from_secs(40), "{:?}", start.elapsed());
}

#[test]
fn a_client_that_leaves_the_queue() {
    let server = Server::new("");
    let large = bytes(&noisy(ColorType::Rgb8, 900, 700), ImageFormat::Png);
    let small = bytes(&noisy(ColorType::L8, 30, 24), ImageFormat::Png);
    let head = format!(
        "POST /denoise HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\n\r\n",
        server.host,
        small.len()
    );
    scope(|scope| {
        let first = scope.spawn(|| (server.post("/denoise", &large).status, Instant::now()));
        let mut waiting = Vec::new();
        // Until the queue is full.
        while server.post("/denoise", b"").status != 503 {
            let mut stream = server.connect();
            stream.write_all(head.as_bytes()).expect("a head is sent");
            stream.write_all(&small).expect("a picture is sent");
            waiting.push(stream);
            sleep(Duration::from_millis(20));
            assert!(waiting.len() < 20);
        }
        drop(waiting);
        sleep(Duration::from_millis(200));
        let asked = Instant::now();
        assert_eq!(server.post("/denoise", &small).status, 200);
        let (status, end) = first.join().expect("an answer");
        assert_eq!(status, 200);
        assert!(asked < end, "the first picture was done too soon for this test");
    });
}

/// Requests of a test: this many unless `KGARD_LOAD_PICTURES` says another number.
#[cfg(target_os = "linux")]
const LOAD: usize = 320;

/// 64 clients at a time through one process, slow ones among them: every answer is right, and
/// memory does not grow with the number of pictures.
#[cfg(target_os = "linux")]
#[test]
fn load() {
    const CLIENTS: usize = 64;
    let count = std::env::var("KGARD_LOAD_PICTURES").ok().and_then(|text| text.parse().ok());
    let count: usize = count.unwrap_or(LOAD);
    let (server, folder) = (Server::new(""), Folder::new());
    let kinds = [(ColorType::L8, 40, 32), (ColorType::Rgb8, 24, 20), (ColorType::L16, 33, 17)];
    let cases: Vec<(Vec<u8>, Vec<u8>)> = kinds
        .iter()
        .map(|&(color, width, height)| {
            let picture = bytes(&noisy(color, width, height), ImageFormat::Png);
            folder.write("a.png", &picture);
            folder.kgard("denoise a.png -o b.png --overwrite -q").ok();
            (picture, folder.bytes("b.png"))
        })
        .collect();
    let next = AtomicUsize::new(0);
    let early = AtomicU64::new(0);
    scope(|scope| {
        for client in 0..CLIENTS {
            let (server, cases, next, early) = (&server, &cases, &next, &early);
            scope.spawn(move || {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    if i >= count {
                        return;
                    }
                    if i == count / 4 {
                        early.store(server.status("VmRSS:"), Ordering::Relaxed);
                    }
                    let (picture, clean) = &cases[i % cases.len()];
                    loop {
                        let answer = server.post_in_pieces(picture, client % 8 == 0);
                        if answer.status == 503 {
                            // Too many are waiting: it says so at once, and is asked again.
                            sleep(Duration::from_millis(20));
                            continue;
                        }
                        assert_eq!(answer.status, 200, "{}", answer.text());
                        assert_eq!(answer.part("clean"), Some(&clean[..]), "picture {i}");
                        break;
                    }
                }
            });
        }
    });
    let (early, late) = (early.into_inner(), server.status("VmRSS:"));
    println!("{count} pictures: {early} kB after a quarter of them, {late} kB at the end");
    assert!(late < early + 20_000, "{early} kB, {late} kB");
}

/// Requests that are none, or nearly some: the server answers or hangs up, and lives.
#[test]
fn mutated_requests() {
    let server = Server::new("");
    let picture = bytes(&noisy(ColorType::L8, 20, 20), ImageFormat::Png);
    let host = &server.host;
    let post = |headers: &str| format!("POST /denoise HTTP/1.1\r\nHost: {host}\r\n{headers}\r\n");
    let seeds: [Vec<u8>; 4] = [
        format!("GET /page.css HTTP/1.1\r\nHost: {host}\r\nAccept: */*\r\n\r\n").into_bytes(),
        [post(&format!("Content-Length: {}\r\n", picture.len())).as_bytes(), &picture].concat(),
        post("Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n").into_bytes(),
        post("Expect: 100-continue\r\nContent-Length: 9\r\nOrigin: null\r\n").into_bytes(),
    ];
    let mut random = Random::new(17);
    // As long as the other doors where that was asked for.
    let seconds = std::env::var("KGARD_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let end = Instant::now() + Duration::from_secs_f64(seconds.unwrap_or(0.0));
    for round in (0..).take_while(|&round| round < 400 || Instant::now() < end) {
        let mut request = seeds[round % seeds.len()].clone();
        for _ in 0..random.below(5) {
            let at = random.below(request.len());
            match random.below(5) {
                0 => request[at] = u8::try_from(random.below(256)).expect("a byte"),
                1 => request.truncate(at.max(1)),
                2 => drop(request.remove(at)),
                3 => request.extend(seeds[random.below(seeds.len())].clone()),
                _ => {
                    let digits = [&b"-1"[..], b"999999999999999999999", b"\r\n", b"\0", b": "];
                    let piece = digits[random.below(digits.len())].iter().copied();
                    drop(request.splice(at..at, piece));
                }
            }
        }
        let mut stream = server.connect();
        let _ = stream.write_all(&request);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a timeout");
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 "), "{request:?}");
    }
    assert_eq!(server.post("/denoise", &picture).status, 200);
}

/// Refused by its header: it is not even whole.
#[test]
fn a_picture_that_needs_too_much_memory() {
    let server = Server::new("--memory 6000");
    let answer = server.post("/denoise", &claims(14_000));
    assert_eq!(answer.status, 413, "{}", answer.text());
    assert!(answer.text().contains("14000 x 14000 pixels, which need about"), "{}", answer.text());
    let small = bytes(&noisy(ColorType::L8, 30, 24), ImageFormat::Png);
    assert_eq!(server.post("/denoise", &small).status, 200);
}

#[cfg(target_os = "linux")]
#[test]
fn memory_of_the_shell_is_respected() {
    let folder = Folder::new();
    folder.write("large.png", claims(14_000));
    let run = folder.shell("ulimit -v 6000000; kgard denoise large.png -o clean.png");
    run.fails(1, &["large.png: has 14000 x 14000 pixels", "cut it into parts"]);
}

#[cfg(feature = "gpu")]
#[test]
fn on_a_gpu() {
    if !crate::gpu::is_there() {
        return;
    }
    let server = Server::new("--backend gpu");
    let picture = bytes(&noisy(ColorType::L8, 40, 32), ImageFormat::Png);
    for (query, backend) in [("", "gpu"), ("?method=kgard", "gpu"), ("?method=bm3d", "cpu")] {
        let answer = server.post(&format!("/denoise{query}"), &picture);
        assert_eq!(answer.status, 200, "{}", answer.head);
        let report = answer.part("report").expect("a report");
        let report: serde_json::Value = serde_json::from_slice(report).expect("JSON");
        assert_eq!(report["backend"], backend, "{query}");
    }
    assert_eq!(server.post("/denoise?backend=cpu", &picture).status, 400);
}
