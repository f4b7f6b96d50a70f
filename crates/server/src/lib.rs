//! The HTTP API and the web page. `docs/api.md` describes the API for its users.
//!
//! [`Server::bind`] opens a port, [`Server::run`] answers requests until it is stopped.

mod app;
mod brain;
mod describe;
mod error;
mod events;
mod exact;
mod extract;
mod guard;
mod listener;
mod models;
mod openapi;
mod page;
mod results;
mod routes;
mod runs;
mod searches;
mod shares;
mod stream;
mod tail;
mod training;
mod words;

use std::{
    future::Future,
    io::{self, ErrorKind},
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, UdpSocket},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use afterstate_endgame::Tables;
use app::{App, Shared};
use exact::Solutions;
use guard::Hosts;
use listener::Bounds;
use models::Models;
use results::Results;
use routes::recipes::Times;
use searches::{Limits, Searches};
use tokio::sync::{Semaphore, watch};
use training::Trainings;

/// The default port.
pub const PORT: u16 = 2048;

/// The number of following ports to try if it is taken.
const TRIES: u16 = 100;

/// How long shutdown waits for running answers.
const GRACE: Duration = Duration::from_secs(3);

/// The settings of the server.
#[derive(Clone, Debug)]
pub struct Options {
    /// The address to listen on.
    pub listen: IpAddr,
    /// The port, 0 for any; by default, [`PORT`] or the next free one.
    pub port: Option<u16>,
    /// Names besides `localhost` by which browsers may address the server.
    pub hosts: Vec<String>,
    /// The directory of runs.
    pub runs: PathBuf,
    /// The directory of model files and solutions.
    pub models: PathBuf,
    /// A model file or the directory of a run: the default model.
    pub model: Option<PathBuf>,
    /// Tables that the searches of n-tuple networks probe at their leaves.
    pub endgames: Option<Arc<Tables>>,
    /// The program whose `train` command trains; without it, training is disabled.
    pub trainer: Option<PathBuf>,
    /// The maximum number of simultaneous connections; others wait.
    pub connections: usize,
    /// The time limit for receiving the headers of a request.
    pub patience: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            listen: Ipv4Addr::LOCALHOST.into(),
            port: None,
            hosts: Vec::new(),
            runs: "runs".into(),
            models: "models".into(),
            model: None,
            endgames: None,
            trainer: None,
            connections: 1024,
            patience: Duration::from_secs(30),
        }
    }
}

/// Why the server cannot run.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Another program uses the port.
    #[error("port {0} is taken by another program")]
    Taken(u16),
    /// The address cannot be used.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// The system lacks what a server needs.
    #[error("the server cannot run: {0}")]
    System(#[from] io::Error),
}

/// A server bound to its port.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    bounds: Bounds,
    warnings: Vec<String>,
    app: App,
}

impl Server {
    /// Opens the port.
    ///
    /// # Errors
    /// If the port is taken or the address does not belong to this machine.
    pub fn bind(options: &Options) -> Result<Server, ServeError> {
        let listener = listen(options)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let limits = Limits::default();
        let (results, warnings) = Results::open(&options.runs);
        let shared = Shared {
            hosts: Hosts { loopback: options.listen.is_loopback(), names: options.hosts.clone() },
            token: token()?,
            limits,
            searches: Searches::new(limits),
            models: Models::new(
                &options.runs,
                &options.models,
                options.model.as_deref(),
                options.endgames.clone(),
            ),
            trainings: Trainings::new(options.trainer.as_deref(), &options.runs),
            times: Times::default(),
            runs: options.runs.clone(),
            model_files: options.models.clone(),
            evaluating: Arc::new(Semaphore::new(1)),
            results,
            solutions: Solutions::new(&options.models),
            closing: watch::Sender::new(false),
        };
        let bounds = Bounds { connections: options.connections, patience: options.patience };
        Ok(Server { listener, address, bounds, warnings, app: Arc::new(shared) })
    }

    /// The address on which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The token that the page and programs need to start and stop work, meant for the reader of the terminal.
    pub fn token(&self) -> &str {
        &self.app.token
    }

    /// Problems that do not prevent serving: parts of files that cannot be read.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The name of the model for requests that name none.
    pub fn default_model(&self) -> String {
        self.app.models.default_name()
    }

    /// Answers requests until `stop` completes.
    ///
    /// # Errors
    /// If the system lacks what a server needs.
    pub fn run(self, stop: impl Future<Output = ()> + Send + 'static) -> Result<(), ServeError> {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let answered = runtime.block_on(self.answer(stop));
        // Searches of disconnected clients stop soon; they are not waited for.
        runtime.shutdown_timeout(GRACE);
        Ok(answered?)
    }

    /// Answers requests until `stop` completes; then streams end, pending responses are finished, and the training is
    /// saved.
    async fn answer(self, stop: impl Future<Output = ()> + Send + 'static) -> io::Result<()> {
        let listener = tokio::net::TcpListener::from_std(self.listener)?;
        let app = self.app;
        let (closing, first) = (app.clone(), app.clone());
        // Loads the default model while the browser opens the page; errors are reported when it is used.
        tokio::task::spawn_blocking(move || first.models.get(None).is_ok());
        let stop = async move {
            stop.await;
            closing.closing.send_replace(true);
        };
        let mut closed = app.closing.subscribe();
        let late = async {
            let _ = closed.wait_for(|closing| *closing).await;
            tokio::time::sleep(GRACE).await;
        };
        tokio::select! {
            () = listener::serve(listener, app::router(app.clone()), self.bounds, stop) => {}
            () = late => {}
        }
        tokio::select! {
            () = app.trainings.close() => {}
            // A second signal ends the wait: the training saves itself.
            _ = tokio::signal::ctrl_c() => {}
        }
        Ok(())
    }

    /// Answers requests until the process receives Ctrl-C, SIGTERM or SIGHUP.
    ///
    /// # Errors
    /// The same as [`Server::run`].
    pub fn run_until_signal(self) -> Result<(), ServeError> {
        self.run(signal())
    }
}

/// Opens the requested port, or the first free one.
fn listen(options: &Options) -> Result<TcpListener, ServeError> {
    let ports = match options.port {
        Some(port) => port..=port,
        None => PORT..=PORT + TRIES,
    };
    for port in ports {
        let address = SocketAddr::new(options.listen, port);
        match TcpListener::bind(address) {
            Ok(listener) => return Ok(listener),
            Err(source) if source.kind() == ErrorKind::AddrInUse => {}
            Err(source) => return Err(ServeError::Listen { address, source }),
        }
    }
    Err(ServeError::Taken(options.port.unwrap_or(PORT)))
}

/// The address of this machine in its network, if any: that of its default route. Nothing is sent.
pub fn address_in_network() -> Option<IpAddr> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
    // A documentation address, which uses the default route.
    socket.connect((Ipv4Addr::new(192, 0, 2, 1), 9)).ok()?;
    let address = socket.local_addr().ok()?.ip();
    (!address.is_loopback() && !address.is_unspecified()).then_some(address)
}

/// A random, unguessable token.
fn token() -> io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Whether the parent of this process, such as `nohup`, made it ignore SIGHUP; `false` if the system does not tell.
pub fn ignores_hang_up() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // SIGHUP is the first signal.
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}

/// Completes when the process is told to end.
async fn signal() {
    use tokio::signal::ctrl_c;
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let on_hang_up = if ignores_hang_up() { SignalKind::terminate() } else { SignalKind::hangup() };
        if let [Ok(mut terminate), Ok(mut hang_up)] = [SignalKind::terminate(), on_hang_up].map(signal) {
            tokio::select! {
                _ = ctrl_c() => {}
                _ = terminate.recv() => {}
                _ = hang_up.recv() => {}
            }
            return;
        }
    }
    let _ = ctrl_c().await;
}
