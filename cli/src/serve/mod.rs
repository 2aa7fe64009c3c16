//! `kgard serve`: a page on this machine on which a picture is dropped and
//! comes back clean.
//!
//! | | |
//! | --- | --- |
//! | [`guard`] | who may ask: nobody from another site |
//! | [`answer`] | which request gets what |
//! | [`picture`] | the picture of a request, denoised as `kgard denoise` does it |
//! | `page.html`, `page.css`, `page.js` | the page |

mod answer;
mod guard;
mod picture;

use crate::device::DeviceArgs;
use crate::error::{Error, Result};
use crate::messages::{detail, message, note};
use crate::output::to_stdout;
use answer::answer;
use clap::Args;
use guard::Guard;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use tiny_http::Server;

const EXAMPLES: &str = "\
Examples:
  kgard serve
  kgard serve --port 0 --open
  kgard serve --backend cpu

The page needs no network and sends nothing elsewhere. With the default host
only programs of this machine reach it; with another one, everybody who reaches
that address may use it, and pictures travel in the clear.

For scripts: POST the bytes of a picture to /denoise. Options are those of
`kgard denoise`, in the query: /denoise?method=kgard&noise-sigma=10. The answer
is multipart/form-data with the parts `report` (the JSON object), `clean` (the
picture), `outliers` and `before`; `shown` is a copy in 8 bits where a browser
could not show the clean one.";

/// `kgard serve`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ServeArgs {
    /// The port; 0 is any that is free
    #[arg(long, value_name = "N", default_value_t = 8080)]
    port: u16,
    /// The address to listen on
    #[arg(long, value_name = "ADDRESS", default_value_t = Ipv4Addr::LOCALHOST.into())]
    host: IpAddr,
    /// Open the page in the browser
    #[arg(long)]
    open: bool,
    /// Refuse pictures of more megabytes
    #[arg(
        long, value_name = "MB", default_value_t = 100,
        value_parser = clap::value_parser!(u64).range(1..=2000)
    )]
    limit: u64,
    #[command(flatten)]
    device: DeviceArgs,
}

/// Runs the command, until somebody ends it.
pub(crate) fn run(args: &ServeArgs) -> Result<()> {
    args.device.check()?;
    let wanted = SocketAddr::new(args.host, args.port);
    let refused = |error: &dyn std::fmt::Display| {
        Error::failed(format!("{wanted}: cannot be listened on: {error}; try --port 0"))
    };
    let listener = TcpListener::bind(wanted).map_err(|error| refused(&error))?;
    let address = listener.local_addr().map_err(|error| refused(&error))?;
    let server = Server::from_listener(listener, None).map_err(|error| refused(&error))?;
    // How much it will have to do is unknown: a device that is there is used.
    let device = Arc::new(args.device.open(u64::MAX)?);
    let url = format!("http://{address}/");
    if !address.ip().is_loopback() {
        note("everybody who reaches this address can use the page");
    }
    to_stdout(format!("{url}\n").as_bytes())?;
    message("drop a picture on this page; Ctrl-C ends it");
    if args.open
        && let Err(error) = open::that_detached(&url)
    {
        note(&format!("no browser could be started: {error}"));
    }
    let guard = Arc::new(Guard::new(address, args.limit * 1_000_000));
    loop {
        let request = server
            .recv()
            .map_err(|error| Error::failed(format!("{url}: cannot be served any more: {error}")))?;
        let (guard, device) = (Arc::clone(&guard), Arc::clone(&device));
        // A picture takes seconds; the page must not wait for it.
        std::thread::spawn(move || {
            let line = format!("{} {}", request.method(), request.url());
            let status = answer(request, &guard, device.as_ref().as_ref());
            detail(&format!("{line}: {status}"));
        });
    }
}
