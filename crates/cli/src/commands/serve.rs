//! `afterstate serve`.

use std::{
    io::{Write, stderr},
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
};

use afterstate_dcnn::DcnnInfo;
use afterstate_lab::model::open_file;
use afterstate_network::file::ModelInfo;
use afterstate_server::{Options, PORT, ServeError, Server, address_in_network};
use clap::Args;

use super::{endgame::open_tables, model::failure as file_failure};
use crate::error::Failure;

/// Serve the page and the API
///
/// On the page you can watch a model play, play, analyse boards, review games, and train; docs/api.md describes the
/// API. Only this machine can reach it unless --listen says otherwise. The printed address holds a token: anyone who
/// opens it can start and stop trainings. Ctrl-C stops it.
#[derive(Args, Default)]
#[command(after_help = "Examples:\n  \
    afterstate                               the same as `afterstate serve`\n  \
    afterstate serve runs/quick              with this model to begin with\n  \
    afterstate serve --port 8080\n  \
    curl '127.0.0.1:2048/api/advise?board=0000/0010/0100/000b'")]
pub(crate) struct Serve {
    /// The first model: a file, or the directory of a run [the built-in one]
    model: Option<PathBuf>,
    /// Probe the endgame tables of this directory at the leaves of searches
    #[arg(long, value_name = "DIR")]
    endgame: Option<PathBuf>,
    /// The port [2048, or the next one that is free]
    #[arg(long)]
    port: Option<u16>,
    /// The address to listen on, such as 0.0.0.0 to let other machines in; anyone who reaches it can use the models,
    /// but trainings need the token
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<IpAddr>,
    /// A host name for this server in browsers, besides localhost; may be repeated
    #[arg(long, value_name = "NAME")]
    host: Vec<String>,
    /// The directory of runs; `runs` unless another one is named
    #[arg(long, value_name = "DIR")]
    runs: Option<PathBuf>,
    /// The directory of model files and solutions; `models` unless another one is named
    #[arg(long, value_name = "DIR")]
    models: Option<PathBuf>,
}

impl Serve {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        if let Some(model) = &self.model {
            check_model(model)?;
        }
        let defaults = Options::default();
        let options = Options {
            listen: self.listen.unwrap_or(defaults.listen),
            port: self.port,
            hosts: self.host,
            runs: self.runs.unwrap_or(defaults.runs),
            models: self.models.unwrap_or(defaults.models),
            model: self.model,
            endgames: self.endgame.as_deref().map(open_tables).transpose()?.flatten(),
            trainer: std::env::current_exe().ok(),
            connections: defaults.connections,
            patience: defaults.patience,
        };
        let server = Server::bind(&options).map_err(failure)?;
        let (address, port) = (server.address(), server.address().port());
        if options.port.is_none() && port != PORT {
            let _ = writeln!(stderr(), "port {PORT} is taken, so it is {port}");
        }
        if !options.listen.is_loopback() {
            let _ = writeln!(stderr(), "{}", warning(options.listen, port));
        }
        for warning in server.warnings() {
            let _ = writeln!(stderr(), "warning: {warning}");
        }
        let shown = if options.listen.is_unspecified() { Ipv4Addr::LOCALHOST.into() } else { address.ip() };
        let page = |ip| format!("http://{}/", SocketAddr::new(ip, port));
        // The fragment after # stays in the browser: the token is neither transmitted nor logged.
        writeln!(out, "{}#token/{}", page(shown), server.token())?;
        if let Some(ip) = address_in_network().filter(|_| options.listen.is_unspecified()) {
            writeln!(out, "on a phone in the same network: {}", page(ip))?;
        }
        writeln!(out, "model: {}", server.default_model())?;
        out.flush()?;
        server.run_until_signal().map_err(failure)
    }
}

/// Rejects an invalid model before serving anything.
fn check_model(path: &Path) -> Result<(), Failure> {
    let file = open_file(path)?;
    if !DcnnInfo::is_in(&file) {
        ModelInfo::of(&file).map_err(file_failure)?;
    }
    Ok(())
}

/// Explains the consequences of letting others in.
fn warning(listen: IpAddr, port: u16) -> String {
    let who = if listen.is_unspecified() {
        "every machine that reaches this one".into()
    } else {
        format!("anyone who reaches {listen}")
    };
    format!(
        "{who} can now use this server on port {port}: the models and runs, and the processor for searches. There is no \
         encryption and no password. Trainings are started and stopped with the token of the first address below only."
    )
}

/// Adds a hint.
fn failure(error: ServeError) -> Failure {
    match error {
        ServeError::Taken(_) => Failure::other(error, "give another one with `--port N`, 0 for any"),
        ServeError::Listen { .. } => {
            Failure::input(error, "give an address of this machine with `--listen`, and a port above 1023")
        }
        ServeError::System(_) => Failure::other(error, "are too many files open?"),
    }
}
