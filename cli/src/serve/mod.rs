//! `kgard serve`: a page on this machine on which a picture is dropped and
//! comes back clean.
//!
//! | | |
//! | --- | --- |
//! | [`connection`] | connections, and how long a client may take |
//! | [`guard`] | who may ask: nobody from another site |
//! | [`queue`] | the pictures that wait, and the memory they take |
//! | [`answer`] | which request gets what |
//! | [`picture`] | the picture of a request, denoised as `kgard denoise` does it |
//! | `page.html`, `page.css`, `page.js` | the page |

mod answer;
mod connection;
mod guard;
mod picture;
mod queue;

use crate::device::{Device, DeviceArgs};
use crate::error::{Error, Result};
use crate::messages::{message, note};
use crate::output::to_stdout;
use clap::Args;
use connection::accept;
use guard::Guard;
use queue::Queue;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::rc::Rc;
use std::sync::Arc;
use tokio::task::LocalSet;

/// Threads beside that of the connections: one works on a picture, the others
/// read the headers of those that arrive.
const THREADS: usize = 3;

const EXAMPLES: &str = "\
Examples:
  kgard serve
  kgard serve --port 0 --open
  kgard serve --backend cpu

The page needs no network and sends nothing elsewhere. Only programs of this
machine reach it. There is no password and no encryption: for other machines
put a server that has both in front of it, or on a network that you trust add
--allow-network to --host.

For scripts: POST the bytes of a picture to /denoise. Options are those of
`kgard denoise`, in the query: /denoise?method=kgard&noise-sigma=10. The answer
is multipart/form-data with the parts `report` (the JSON object), `clean` (the
picture), `outliers` and `before`; `shown` is a copy in 8 bits where a browser
could not show the clean one. One picture is denoised at a time; 503 says that
too many are waiting.";

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
    /// Allow a --host that other machines reach: anyone there can use the page
    /// without a password, and pictures travel unencrypted
    #[arg(long)]
    allow_network: bool,
    /// Open the page in the browser
    #[arg(long)]
    open: bool,
    /// Refuse files of more megabytes
    #[arg(
        long, value_name = "MB", default_value_t = 100,
        value_parser = clap::value_parser!(u64).range(1..=2000)
    )]
    limit: u64,
    /// Refuse pictures that need more megabytes of memory to work on [default:
    /// half of what is free]
    #[arg(long, value_name = "MB", value_parser = clap::value_parser!(u64).range(1..))]
    memory: Option<u64>,
    #[command(flatten)]
    device: DeviceArgs,
}

/// What all requests share.
struct Server {
    guard: Guard,
    queue: Queue,
    /// The largest file, in bytes.
    limit: u64,
    /// Memory to work on a picture, in bytes, if it was given.
    memory: Option<f64>,
    device: Arc<Option<Device>>,
}

/// Runs the command, until somebody ends it.
pub(crate) fn run(args: &ServeArgs) -> Result<()> {
    args.device.check()?;
    let wanted = SocketAddr::new(args.host, args.port);
    if !args.host.is_loopback() && !args.allow_network {
        return Err(Error::usage(format!(
            "--host {}: anyone on that network could use the page without a password, and pictures \
             would travel unencrypted: add --allow-network if you want that",
            args.host
        )));
    }
    let refused = |error: &dyn std::fmt::Display| {
        Error::failed(format!("{wanted}: cannot be listened on: {error}; try --port 0"))
    };
    let listener = TcpListener::bind(wanted).map_err(|error| refused(&error))?;
    let address = listener.local_addr().map_err(|error| refused(&error))?;
    listener.set_nonblocking(true).map_err(|error| refused(&error))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(THREADS)
        .build()
        .map_err(|error| refused(&error))?;
    // How much it will have to do is unknown: a device that is there is used.
    let device = Arc::new(args.device.open(u64::MAX)?);
    let url = format!("http://{address}/");
    if !address.ip().is_loopback() {
        note("anyone who reaches this address can use the page, and read what is sent");
    }
    to_stdout(format!("{url}\n").as_bytes())?;
    message("drop a picture on this page; Ctrl-C ends it");
    if args.open
        && let Err(error) = open::that_detached(&url)
    {
        note(&format!("no browser could be started: {error}"));
    }
    let limit = args.limit * 1_000_000;
    let server = Rc::new(Server {
        guard: Guard::new(address),
        queue: Queue::new(limit),
        limit,
        memory: args.memory.map(|megabytes| megabytes as f64 * 1e6),
        device,
    });
    LocalSet::new().block_on(&runtime, async {
        let listener = tokio::net::TcpListener::from_std(listener);
        accept(listener.map_err(|error| refused(&error))?, server).await;
        Ok(())
    })
}
