//! From a configuration to a running server, and to its end.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::process;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::serve::ListenerExt;
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::app::App;
use crate::assets::Assets;
use crate::cli::{Stopped, complain, say};
use crate::config::Config;
use crate::door::{Addresses, Credential};
use crate::instance::{Instance, Taken};
use crate::{browser, data_dir, http, neighbour};

/// Requests that are being answered get this long when we stop.
const LAST_ANSWERS: Duration = Duration::from_millis(600);

/// Runs the server until it is told to stop.
pub fn serve(config: Config) -> Result<(), Stopped> {
    log_to_stderr(&config);
    let data_dir = data_dir::prepare(&config.data_dir).map_err(Stopped::because)?;
    let mut instance = match Instance::claim(&data_dir) {
        Ok(instance) => instance,
        Err(taken) => return already_running(&config, &data_dir, taken),
    };
    let credential = Credential::load_or_create(&data_dir).map_err(Stopped::because)?;
    let assets = if config.dev {
        Assets::from_checkout().map_err(|error| {
            Stopped::because(format!("--dev: {error}; start it in the checkout"))
        })?
    } else {
        Assets::Embedded
    };

    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers())
        .thread_name("liminal")
        .enable_all()
        .build()
        .map_err(|error| Stopped::because(format!("cannot start: {error}")))?;
    runtime.block_on(async {
        let stop = StopSignals::listen()
            .map_err(|error| Stopped::because(format!("cannot start: {error}")))?;
        let listener = listen(&config).await?;
        let bound = listener.local_addr().map_err(Stopped::because)?;
        let addresses = Addresses::new(bound, &config.allowed_origins);
        let app = App::open(&config, &data_dir, addresses, credential, assets)
            .await
            .map_err(|failure| Stopped::because(failure.message))?;
        let app = Arc::new(app);
        for warning in app.warnings() {
            complain(warning);
        }
        let address = page_address(&config, bound);
        instance.announce(&local_address(bound)).map_err(Stopped::because)?;
        welcome(&config, &app, &address)?;
        run(app, listener, stop).await;
        Ok(())
    })
}

/// Two are enough to keep one busy connection from holding up the others; more cost memory each.
fn workers() -> usize {
    std::thread::available_parallelism().map_or(2, |cores| cores.get().clamp(2, 4))
}

fn log_to_stderr(config: &Config) {
    use tracing_subscriber::layer::SubscriberExt;
    use tracing_subscriber::util::SubscriberInitExt;
    let lines = tracing_subscriber::fmt::layer().with_writer(io::stderr).with_ansi(false);
    let _set_already =
        tracing_subscriber::registry().with(lines).with(config.log.clone()).try_init();
}

fn already_running(config: &Config, data_dir: &Path, taken: Taken) -> Result<(), Stopped> {
    match taken {
        Taken::ByServerAt(address) => {
            let token = Credential::load_or_create(data_dir).map_err(Stopped::because)?.reveal();
            say(format_args!("Liminal Builder is already running at {address}/#token={token}"))?;
            // Who types the command again wants to see the page.
            if config.open_browser
                && browser::has_display()
                && let Ok((200, code)) = neighbour::post(&address, "/api/code", &token)
            {
                browser::open(&format!("{address}/#code={code}"));
            }
            Ok(())
        }
        Taken::BySomethingSilent => Err(Stopped::because(format!(
            "another process uses the data directory {} and does not say where it listens; end it, or choose another directory with --data-dir",
            data_dir.display()
        ))),
        Taken::Unusable(error) => Err(Stopped::because(format!(
            "cannot use the data directory {}: {error}; choose another with --data-dir",
            data_dir.display()
        ))),
    }
}

async fn listen(config: &Config) -> Result<TcpListener, Stopped> {
    let wanted = SocketAddr::new(config.host, config.port);
    TcpListener::bind(wanted)
        .await
        .map_err(|error| Stopped::because(why_not_listening(config, &error)))
}

/// What stands in the way of listening, and what to do about it.
pub fn why_not_listening(config: &Config, error: &io::Error) -> String {
    let Config { host, port, .. } = config;
    match error.kind() {
        io::ErrorKind::AddrInUse => format!(
            "port {port} is taken by another program; choose another with --port, or 0 for any free one"
        ),
        io::ErrorKind::PermissionDenied => {
            format!("no permission to listen on port {port}; choose one above 1023 with --port")
        }
        io::ErrorKind::AddrNotAvailable => {
            format!("{host} is not an address of this machine; choose another with --host")
        }
        _ => format!(
            "cannot listen on {host} port {port}: {error}; choose others with --host and --port"
        ),
    }
}

/// Where a program on this machine reaches us.
fn local_address(bound: SocketAddr) -> String {
    let ip = match bound.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    format!("http://{}", SocketAddr::new(ip, bound.port()))
}

/// Where the user's browser reaches us. An address that is neither loopback nor all of them is not one we answer
/// to, so there the user's own is shown.
fn page_address(config: &Config, bound: SocketAddr) -> String {
    match config.allowed_origins.first() {
        Some(origin) if !bound.ip().is_loopback() && !bound.ip().is_unspecified() => {
            origin.as_str().to_owned()
        }
        _ => local_address(bound),
    }
}

fn welcome(config: &Config, app: &App, address: &str) -> Result<(), Stopped> {
    if config.listens_beyond_this_machine() {
        complain(
            "listening beyond this machine; plain http can be read on its way, so use a tunnel or a proxy with https",
        );
    }
    say(format_args!("Liminal Builder is at {address}/#token={}", app.credential.reveal()))?;
    if config.open_browser && browser::has_display() {
        browser::open(&format!("{address}/#code={}", app.codes.issue(Instant::now())));
    }
    Ok(())
}

async fn run(app: Arc<App>, listener: TcpListener, mut stop: StopSignals) {
    // Small frames must not wait for each other.
    let listener = listener.tap_io(|stream| {
        let _only_slower = stream.set_nodelay(true);
    });
    let (stopping, stopped) = tokio::sync::oneshot::channel::<()>();
    let server = axum::serve(listener, http::router(app.clone())).with_graceful_shutdown(async {
        let _dropped = stopped.await;
    });
    let server = tokio::spawn(server.into_future());

    stop.first().await;
    tokio::spawn(async move {
        stop.second().await;
        process::exit(130);
    });
    drop(stopping);
    app.hub.stop();
    let last_answers = async { tokio::join!(server, app.hub.emptied()) };
    let _took_too_long = tokio::time::timeout(LAST_ANSWERS, last_answers).await;
    app.service.stop().await;
}

/// The ways we are told to stop.
struct StopSignals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl StopSignals {
    fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    async fn first(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.hang_up.recv() => {}
        }
    }

    /// A user who presses Ctrl-C again does not want to wait.
    async fn second(&mut self) {
        self.interrupt.recv().await;
    }
}
