//! Connections: a maximum number at once, a share of them for each address, and none for silent clients.

use std::{future::Future, pin::pin, sync::Arc, time::Duration};

use axum::{Router, extract::ConnectInfo, serve::Listener};
use hyper::{
    Request,
    body::Incoming,
    server::conn::http1,
    service::{Service, service_fn},
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
    service::TowerToHyperService,
};
use tokio::{net::TcpListener, sync::Semaphore};

use crate::shares::Shares;

/// The limits of connections.
#[derive(Clone, Copy)]
pub(crate) struct Bounds {
    /// The maximum at once; others wait. A single address gets at most a quarter of them, and further ones are closed.
    pub(crate) connections: usize,
    /// The time limit from the start of a connection, or from the previous response, to the end of a request's headers.
    pub(crate) patience: Duration,
}

/// Serves until `stop` completes, then finishes pending responses. Unlike this, `axum::serve` would wait
/// for silent clients forever.
pub(crate) async fn serve(
    mut listener: TcpListener,
    router: Router,
    bounds: Bounds,
    stop: impl Future<Output = ()>,
) {
    let (places, open) = (Arc::new(Semaphore::new(bounds.connections)), GracefulShutdown::new());
    let shares = Shares::new((bounds.connections / 4).max(1));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(bounds.patience);
    let mut stop = pin!(stop);
    loop {
        let accept = async {
            // The semaphore is never closed.
            let place = places.clone().acquire_owned().await.ok();
            (place, Listener::accept(&mut listener).await)
        };
        let (place, (stream, address)) = tokio::select! {
            accepted = accept => accepted,
            () = &mut stop => break,
        };
        let Some(share) = shares.take(address.ip()) else { continue };
        // Sends small responses at once; a failure only delays them.
        let _ = stream.set_nodelay(true);
        let answer = TowerToHyperService::new(router.clone());
        let answer = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(ConnectInfo(address));
            answer.call(request)
        });
        let connection = open.watch(http.serve_connection(TokioIo::new(stream), answer));
        tokio::spawn(async move {
            let _place = (place, share);
            // A client that disconnects or sends nonsense only loses its connection.
            let _ = connection.await;
        });
    }
    drop(listener);
    open.shutdown().await;
}
