//! From a configuration to a running server, and to its end.

use std::io;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::Arc;
use std::time::{Duration, Instant};

use liminal_agents::process::descriptors;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::app::App;
use crate::assets::Assets;
use crate::config::Config;
use crate::door::{Addresses, Claim, Credential, OnVisit, link};
use crate::instance::{Instance, Taken};
use crate::sessions::AgentsLeft;
use crate::terminal::{Stopped, complain, say};
use crate::{browser, data_dir, http, neighbour};

/// Requests in progress get this long when we stop.
const LAST_ANSWERS: Duration = Duration::from_millis(600);

/// Runs the server until a signal stops it.
pub fn serve(config: Config) -> Result<(), Stopped> {
    let (data_dir, instance) = match claim_data_dir(&config)? {
        (data_dir, Ok(instance)) => (data_dir, instance),
        (data_dir, Err(taken)) => return already_running(&config, &data_dir, taken),
    };
    start(config, &data_dir, instance, async |config, Started { app, claim, stop }| {
        welcome(config, &app, &page_address(config, &claim))?;
        run(app, claim, stop, std::future::pending::<()>()).await;
        Ok(())
    })
}

/// Runs a server for as long as `work` takes, on any free port of this machine. `work` blocks, and gets the server's
/// address and token.
pub fn during(
    config: Config,
    work: impl FnOnce(&str, &str) -> Result<(), Stopped> + Send + 'static,
) -> Result<(), Stopped> {
    let config = Config { host: Ipv4Addr::LOCALHOST.into(), port: 0, ..config };
    let (data_dir, Ok(instance)) = claim_data_dir(&config)? else {
        return Err(Stopped::because("another process is using the data directory; try again"));
    };
    start(config, &data_dir, instance, async |_, Started { app, claim, stop }| {
        let (address, token) = (format!("http://{}", claim.local()), app.credential.reveal());
        let (done, until) = tokio::sync::oneshot::channel();
        let working = tokio::task::spawn_blocking(move || {
            let worked = work(&address, &token);
            let _stopped_by_a_signal = done.send(());
            worked
        });
        run(app, claim, stop, until).await;
        // A signal leaves the rest for the next time.
        let worked = tokio::time::timeout(LAST_ANSWERS, working).await;
        worked.ok().and_then(Result::ok).unwrap_or(Ok(()))
    })
}

/// Prepares this process and the data directory, which may be another server's.
fn claim_data_dir(config: &Config) -> Result<(PathBuf, Result<Instance, Taken>), Stopped> {
    liminal_allocator::keep_little();
    log_to_stderr(config);
    descriptors::raise_limit();
    let data_dir = data_dir::prepare(&config.data_dir).map_err(Stopped::because)?;
    let instance = Instance::claim(&data_dir);
    Ok((data_dir, instance))
}

/// A server that can be reached as soon as it runs.
struct Started {
    app: Arc<App>,
    claim: Claim,
    stop: StopSignals,
}

/// Starts a server and does `then` with it. Warnings have been said by then.
fn start(
    config: Config,
    data_dir: &Path,
    mut instance: Instance,
    then: impl AsyncFnOnce(&Config, Started) -> Result<(), Stopped>,
) -> Result<(), Stopped> {
    let credential = Credential::load_or_create(data_dir).map_err(Stopped::because)?;
    let assets = assets(&config)?;
    let runtime = runtime()?;
    let served = runtime.block_on(async {
        let stop = StopSignals::listen()
            .map_err(|error| Stopped::because(format!("cannot start: {error}")))?;
        let claim = Claim::take(config.host, config.port)
            .await
            .map_err(|error| Stopped::because(why_not_listening(&config, &error)))?;
        let addresses = Addresses::new(claim.bound, claim.v4, claim.v6, &config.allowed_origins);
        let app = App::open(&config, data_dir, addresses, credential, assets)
            .await
            .map_err(|failure| Stopped::because(failure.message))?;
        warn(&config, &app, &claim);
        instance.announce(&format!("http://{}", claim.local())).map_err(Stopped::because)?;
        then(&config, Started { app: Arc::new(app), claim, stop }).await
    });
    // A thread that is blocked on a dead disk must not keep the process alive.
    runtime.shutdown_background();
    served
}

fn assets(config: &Config) -> Result<Assets, Stopped> {
    if !config.dev {
        return Ok(Assets::Embedded);
    }
    Assets::from_checkout()
        .map_err(|error| Stopped::because(format!("--dev: {error}; run it inside the checkout")))
}

fn warn(config: &Config, app: &App, claim: &Claim) {
    if config.sets_claude_acp_command {
        complain(
            "CLAUDE_ACP_CMD is no longer used, because Claude Code is driven without an adapter; \
             set CLAUDE_CMD to choose the command of Claude Code itself",
        );
    }
    for warning in app.warnings().iter().chain(&claim.warning()) {
        complain(warning);
    }
}

fn runtime() -> Result<tokio::runtime::Runtime, Stopped> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers())
        .thread_name("liminal")
        .enable_all()
        .build()
        .map_err(|error| Stopped::because(format!("cannot start: {error}")))
}

/// Two are enough that one busy connection doesn't hold up the others; each more costs memory.
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
            let page = link(&address, "token", &token);
            say(format_args!("Liminal Builder is already running at {page}"))?;
            // A user who runs the command again wants to see the page.
            if config.open_browser
                && browser::has_display()
                && let Ok((200, code)) = neighbour::post(&address, "/api/code", &token)
            {
                browser::open(&link(&address, "code", &code));
            }
            Ok(())
        }
        Taken::BySomethingSilent => Err(Stopped::because(format!(
            "another process is using the data directory {} but does not report its address; \
             stop it, or choose another directory with --data-dir",
            data_dir.display()
        ))),
        Taken::Unusable(error) => Err(Stopped::because(format!(
            "cannot use the data directory {}: {error}; choose another with --data-dir",
            data_dir.display()
        ))),
    }
}

/// Why we can't listen there, and what to do about it.
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

/// Where the user's browser reaches us. We answer only to loopback and to the allowed origins, so when we listen on one
/// other address, the first allowed origin is shown.
fn page_address(config: &Config, claim: &Claim) -> String {
    let ip = claim.bound.ip();
    match config.allowed_origins.first() {
        Some(origin) if !ip.is_loopback() && !ip.is_unspecified() => origin.as_str().to_owned(),
        _ => format!("http://{}", claim.local()),
    }
}

fn welcome(config: &Config, app: &App, address: &str) -> Result<(), Stopped> {
    if config.listens_beyond_this_machine() {
        complain(
            "other machines can connect; plain http can be intercepted, so use a tunnel or an https proxy",
        );
    }
    say(format_args!(
        "Liminal Builder is at {}",
        link(address, "token", &app.credential.reveal())
    ))?;
    if config.open_browser && browser::has_display() {
        browser::open(&link(address, "code", &app.codes.issue(Instant::now())));
    }
    Ok(())
}

/// Serves until a signal, or until there is nothing more to do.
async fn run(app: Arc<App>, claim: Claim, mut stop: StopSignals, until: impl Future) {
    let (stopping, stopped) = tokio::sync::oneshot::channel::<()>();
    let service = http::router(app.clone()).into_make_service_with_connect_info::<OnVisit>();
    let server = axum::serve(claim, service).with_graceful_shutdown(async {
        let _dropped = stopped.await;
    });
    let server = tokio::spawn(server.into_future());

    tokio::select! {
        () = stop.first() => {}
        _over = until => {}
    }
    tokio::spawn(async move {
        stop.second().await;
        process::exit(130);
    });
    drop(stopping);
    app.hub.stop();
    let last_answers = async { tokio::join!(server, app.hub.emptied()) };
    let last_answers = tokio::time::timeout(LAST_ANSWERS, last_answers);
    let (_took_too_long, agents) = tokio::join!(last_answers, app.service.stop());
    match agents {
        AgentsLeft::None => app.marks.close(),
        // Their guards keep ending them, and the next start ends whatever is left.
        AgentsLeft::StillEnding => tracing::warn!("some agents are still ending"),
    }
}

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
